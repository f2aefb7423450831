"""The service: entities over HTTP, and a web page to try a model.

It needs the extra `serve`; nothing outside this package imports it before `disconer serve` runs.

A request passes: `server` (connections) → `middleware` (metrics, headers, errors; token; size, time) → `app` (routes)
→ `batching` (the model, many requests at once) → `schemas` (JSON or brat).

May import `predict`, `render` and everything below them. No torch.
"""
