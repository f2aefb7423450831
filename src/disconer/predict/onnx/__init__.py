"""Models exported for ONNX Runtime, loaded and run without torch and transformers."""
