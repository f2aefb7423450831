"""A process for `processes.Processes` that hangs every word on the next."""

from __future__ import annotations

import sys

from disconer.text.syntax.processes import serve
from text.syntax.fakes import chain

if __name__ == "__main__":
    serve(lambda sentences: [chain(words) for words in sentences], sys.stdin, sys.stdout)
