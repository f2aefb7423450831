"""From text to documents with entities: the recogniser, many files at once (`local`), clusters (`ray`), ONNX Runtime.

May import `store`, `nn` and all below. Without torch, until a model in torch is loaded.
"""
