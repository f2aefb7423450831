"""Annotating in the browser: make, correct and accept entities, and train a model on them.

An edit passes: `app` (routes) → `workspace` (documents, histories) → `changes` (what an edit does to a document)
→ `documents` (files on disk). Beside it: `suggestions` (the model), `usefulness` (order), `trainer` (new models).

It needs the extra `serve`. May import `serve`, `start` and everything below them. No torch: training is a process.
"""
