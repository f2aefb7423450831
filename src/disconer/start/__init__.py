"""From somebody's annotated data to a first configuration: its splits, what it holds, what that asks for.

May import `config` and all below it. No torch.
"""
