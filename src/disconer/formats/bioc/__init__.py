"""BioC: collections of documents in passages, with annotations of one or more locations, and relations.

Offsets count code points from the document's start. An annotation's label is its infon "type" ("label" where
there is none), its score the infon "score" if that is a number from 0 to 1. What is beyond text and entities
(infons, relations, passages, sentences) goes to `extras["bioc"]`, alike for XML and JSON.
"""
