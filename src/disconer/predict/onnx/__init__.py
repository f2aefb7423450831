"""Models run by ONNX Runtime, without torch and transformers.

May import `store`, `nn` and all below, but nothing else of `predict`.
"""
