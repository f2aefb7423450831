"""The service on Ray Serve: the same application in every replica, behind Ray's proxies.

It needs the extras `serve` and `ray`; nothing outside this package imports it before `disconer serve --ray` runs.

A request goes: Ray's proxy → `gate` (what is said when no replica answers) → a `replica` (the whole plain service but
its connections). `plan` says how many replicas there are and what each may use; `deployment` starts, changes and ends
them.
"""
