"""Models that were exported for ONNX Runtime: read and run without torch and without transformers."""
