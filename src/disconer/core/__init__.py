"""The base of everything else: documents and entities, errors, the ledger, files and where they are, progress.

Imports nothing of disconer, and no package but NumPy and platformdirs.
"""
