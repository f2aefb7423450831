"""Heads: ways of finding entities on top of word vectors, each in a folder of its own.

A head may import `nn`, `text` and `evaluate`, and no other head.
"""
