"""Experiments: a study is a matrix of training runs; they run side by side, and a report compares them.

May import everything but `cli`, and no torch: each run is a process of `disconer train`.
"""
