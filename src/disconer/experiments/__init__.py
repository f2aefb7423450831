"""Experiments: a study is a matrix of training runs; they run side by side, and a report compares them.

May import `render` and all below it. No torch: each run is a process of `disconer train`.
"""
