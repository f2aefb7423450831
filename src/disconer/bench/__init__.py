"""How fast a model is, measured against its bare encoder, in one process and one run.

Absolute figures depend on the machine and its other load. Ratios of jobs that alternate hold: drift affects both.

May import everything but `cli`. Settings and tables need no torch.
"""
