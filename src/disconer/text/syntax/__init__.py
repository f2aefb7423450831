"""From sentences to dependency trees: parsers behind one protocol (`parser`), their output checked, aligned and
attached to documents (`attach`), and cached (`cache`).

>>> from disconer.text.syntax.spec import make_syntax
>>> syntax = make_syntax("spacy:en_core_web_sm")  # doctest: +SKIP

Nothing is imported here, and no parser before it is used: the configuration's schema, and so `disconer --help`, import
these modules. They may import `core`; `conllu` alone reads `formats`.
"""
