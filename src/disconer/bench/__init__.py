"""How fast a model is, measured against its bare encoder, in one process and one run.

Absolute figures depend on the machine and its other load. Ratios of jobs that alternate hold: drift affects both.

May import `training` and all below it. Settings and tables need no torch.
"""
