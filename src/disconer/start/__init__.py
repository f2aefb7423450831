"""From annotated data to a first configuration: splits, statistics, and settings that suit them.

May import `store` and all below it, of `nn` the kinds of heads. No torch.
"""
