"""Models run by ONNX Runtime, without torch and transformers."""
