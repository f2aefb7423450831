"""Models in other forms: for ONNX Runtime, and compact ones. Needs torch.

May import `store`, `nn` and all below.
"""
