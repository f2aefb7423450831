"""The network: from words to entities. Most of it needs torch; what reads text and decides on scores does not.

May import `core`, `text`, `formats`, `config` and `evaluate`; it knows nothing of model folders or of training.
"""
