"""Encoders: word vectors from a transformer, from a table of vectors, or from ELMo, each in a folder of its own.

A folder has the reader (no torch), the encoder itself, and how both are loaded.
"""
