"""From annotated data to a first configuration: splits, statistics, and settings that suit them.

May import `config` and all below it. No torch.
"""
