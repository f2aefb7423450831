"""`python -m disconer`: the command line, also for launchers that start modules (`torchrun -m disconer`)."""

from disconer.cli import main

if __name__ == "__main__":
    main()
