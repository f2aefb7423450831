"""The command `disconer`, and `python -m disconer`, also for launchers that start modules (`torchrun -m disconer`)."""

import sys

from disconer.core.errors import INTERRUPTED


def main() -> None:
    """Run the command line. Ctrl-C causes no traceback while it is being loaded, either."""
    try:
        from disconer.cli import main as run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
