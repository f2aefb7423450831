"""Prediction of more than one process can do: shares of an input, parts of an output, and how they come together.

An input is a row of records, cut into blocks; a share takes every n-th block; a part holds what was found in a share.
"""
