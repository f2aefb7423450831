"""Prediction by several processes, on one machine or many: shards of an input, parts of an output, merged at the end.

An input is a sequence of records, cut into blocks; a shard takes every N-th block; a part holds the output of a shard.

Imports `predict` and all below it. No torch before a model is loaded.
"""
