"""What everything else stands on: documents and entities, errors, the ledger, files and folders.

Imports nothing of disconer, and no package but NumPy and platformdirs.
"""
