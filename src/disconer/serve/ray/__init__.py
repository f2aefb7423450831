"""The service on Ray Serve: the same application in every replica, behind Ray's proxies.

It needs the extras `serve` and `ray`; nothing outside this package imports it before `disconer serve --ray` runs.

A request passes: Ray's proxy → `gate` (errors when no replica responds) → a `replica` (the whole plain service except
its connections). `deployment` starts, updates and stops them, as many as `serve.settings.RayPlan` says.

May import `serve`, `predict` and all below.
"""
