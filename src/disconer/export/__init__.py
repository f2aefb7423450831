"""Models in other forms: for ONNX Runtime, and compact. Needs torch.

May import `store`, `nn` and all below.
"""
