"""Where models live: folders of weights with their description and card, and how a model is found by its name.

May import `nn` and all below it. Finding and describing models needs no torch.
"""
