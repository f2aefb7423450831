"""The base of everything else: documents and entities, errors, the ledger, files and where they are, progress.

Imports no package but platformdirs and, for progress, rich; and nothing else of disconer until a document is drawn or
turned into a table.
"""
