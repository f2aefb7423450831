"""The span model's view of entities, without a network: targets, decoding, and what both can express."""
