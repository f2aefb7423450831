"""Word vectors from ELMo: its reader, its layers, and its published weights."""
