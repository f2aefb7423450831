"""The tagger: one tag per word, chosen by a linear-chain CRF; a scheme turns entities into tags and back.

`schemes`, `parts` and `reading` need NumPy only; `crf` needs torch.
"""
