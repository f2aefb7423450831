"""Heads: ways of finding entities on top of word vectors, each kind in a folder of its own.

`kind` says what the rest of disconer needs to know of a kind; several share the search in
`beam`. A folder's `__init__` has its kind and needs no torch. A head may import `config`, `evaluate`, `text` and
`nn`, but no other head; `combined` alone is made of others.
"""
