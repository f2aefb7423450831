"""Commands that `torchrun` starts as several processes: who speaks, and who waits."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from disconer.core.errors import DisconerError

GRACE = 10.0  # seconds; torchrun looks after its processes ten times a second, other machines take longer to notice


def is_first() -> bool:
    """Whether this process speaks for all; the only one there is does."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def one_voice() -> Iterator[None]:
    """Around the work of one process: each error is said once, and by the process that has it.

    What is wrong for all, the first process says at once, and torchrun ends the others while they still wait. What is
    wrong for another process alone, that one says after the wait, with its number and machine. And a process that
    only notices that another one is lost leaves it to torchrun to say which one, and why.
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
            f"In {_name()}: another process of this run was lost, or does not answer",
            got=str(error).strip().split("\n")[0],
            fix="Its own message, or torchrun, says why. The same command with --resume goes on.",
        ) from error


def end_process() -> None:
    """End one of several processes whose work is done and said; a process alone goes on.

    torch leaves the threads of gloo running when it parts the processes. When the interpreter is taken down under
    them, now and then one aborts its process ("terminate called without an active exception"), and torchrun takes a
    run that is complete for a failed one. So the process ends without that.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def say_stopped(how_to_go_on: str) -> None:
    if is_first():
        print(f"\nstopped; {how_to_go_on}", file=sys.stderr)


def _is_loss_of_another(error: RuntimeError) -> bool:
    """Whether this is how gloo, which has no errors of its own, or another backend says so."""
    from torch.distributed import DistError

    return isinstance(error, DistError) or "/gloo/" in str(error)


def _name() -> str:
    return f"process {os.environ.get('RANK')} of {os.environ.get('WORLD_SIZE')} on {socket.gethostname()}"
