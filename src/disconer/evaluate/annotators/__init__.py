"""Annotators compared with each other: agreement, disputes, and the folder in which disputes are settled.

May import what `evaluate` may.
"""
