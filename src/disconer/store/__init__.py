"""Model folders: weights, description and card; finding models by name.

May import `nn` and all below it. Finding and describing models needs no torch.
"""
