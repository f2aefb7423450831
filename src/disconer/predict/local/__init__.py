"""Prediction by several processes, on one machine or many: shares of an input, parts of an output, both joined again.

An input is a row of records, cut into blocks; a share takes every n-th block; a part holds what was found in a share.

Imports `predict` and all below it. No torch before a model is loaded.
"""
