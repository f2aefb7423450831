"""Models for ONNX Runtime: exporting them (with torch) and running them (without)."""
