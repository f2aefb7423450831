"""How fast a model is, measured against the bare encoder that it stands on, in one process and one run.

Absolute figures depend on the machine and on who else uses it. Ratios of what ran in turns hold: drift hits both.

May import everything but `cli`. Settings and tables need no torch.
"""
