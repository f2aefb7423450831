"""Commands that `torchrun` starts as several processes: which process prints, and which waits."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from disconer.core.errors import DisconerError, first_line

GRACE = 10.0  # seconds; torchrun polls its processes ten times a second, other machines notice later


def is_first() -> bool:
    """Whether this is the main process (rank 0), or the only one."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def one_voice() -> Iterator[None]:
    """Around the work of one process: each error is printed once, by the process that has it.

    An error that all processes have is printed by the first at once, and torchrun ends the others while they still
    wait. An error of another process alone is printed by that process after the wait, with its rank and host. A
    process that only notices that another one was lost leaves it to torchrun to report which one, and why.
    """
    try:
        yield
    except DisconerError as error:
        if is_first():
            raise
        time.sleep(GRACE)
        raise DisconerError(f"In {_name()}: {error}") from error
    except RuntimeError as error:
        if not _is_loss_of_another(error):
            raise
        time.sleep(GRACE)
        raise DisconerError(
            f"In {_name()}: another process of this run was lost, or does not respond",
            got=first_line(error),
            fix="See its own message, or torchrun's. Run the same command with --resume to continue.",
        ) from error


def end_process() -> None:
    """End one of several processes after its work and output are done; a single process continues.

    torch leaves gloo's threads running after the process group is destroyed. Now and then, one of them aborts its
    process when the interpreter shuts down ("terminate called without an active exception"), and torchrun reports a
    complete run as failed. So the process exits without shutting the interpreter down.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def say_stopped(how_to_go_on: str) -> None:
    if is_first():
        print(f"\nstopped; {how_to_go_on}", file=sys.stderr)


def _is_loss_of_another(error: RuntimeError) -> bool:
    """Whether gloo, which has no error classes, or another backend reports a lost process."""
    from torch.distributed import DistError

    return isinstance(error, DistError) or "/gloo/" in str(error)


def _name() -> str:
    return f"process {os.environ.get('RANK')} of {os.environ.get('WORLD_SIZE')} on {socket.gethostname()}"
