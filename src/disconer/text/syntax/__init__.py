"""From sentences to dependency trees: parsers behind one protocol (`parser`), their output checked, aligned and
attached to documents (`attach`), and cached (`cache`).

>>> from disconer.text.syntax.spec import make_syntax
>>> syntax = make_syntax("spacy:en_core_web_sm")  # doctest: +SKIP

Nothing is imported here, and neither spaCy nor any other parser before it is used: the configuration's schema knows
these modules, and so does `disconer --help`.
"""
