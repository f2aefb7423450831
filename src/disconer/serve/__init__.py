"""The service: entities over HTTP, and a page to try a model on.

It needs the extra `serve`; nothing outside this package imports it before `disconer serve` runs.

A request goes: `server` (connections) → `watch` (figures, headers, faults) → `access` (token) → `bodies` (size, time)
→ `app` (what is asked) → `batching` (the model, many requests at once) → `schemas` (JSON or brat).

May import `predict`, `render` and all below. No torch.
"""
