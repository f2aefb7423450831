"""A process that parses with a spaCy pipeline, for `processes.Processes`."""

from __future__ import annotations

import sys

from disconer.text.syntax.processes import serve
from disconer.text.syntax.spacy import Pipeline


def main() -> None:
    answers = sys.stdout
    sys.stdout = sys.stderr  # nothing but answers may go there, whatever a pipeline prints
    serve(Pipeline(sys.argv[1]).parse, sys.stdin, answers)


if __name__ == "__main__":
    main()
