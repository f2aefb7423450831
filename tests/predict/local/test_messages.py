"""How a process that does a task ends: quietly, whenever it is told to stop, and whatever stops it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

WITHIN_A_DESTRUCTOR = """
class Slow:
    def __del__(self):
        send({"is": "there"})
        time.sleep(60)
Slow()
time.sleep(60)
"""
AT_THE_END = """
def last():
    send({"is": "there"})
    time.sleep(60)
atexit.register(last)
"""
ON_A_FULL_DISK = """
raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "notes.part")
"""


def started(task: str) -> subprocess.Popen[str]:
    """A process that does a task in Python."""
    script = (
        "import atexit, errno, os, time\nfrom disconer.predict.local.messages import run_as_child\n"
        "run_as_child(lambda task, send: exec(task.replace(';;', '\\n'), globals() | {'send': send}))"
    )
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdin is not None
    process.stdin.write(task.replace("\n", ";;") + "\n")
    process.stdin.flush()
    return process


@pytest.mark.slow
@pytest.mark.parametrize("task", [WITHIN_A_DESTRUCTOR, AT_THE_END])
def test_a_process_that_is_told_to_stop_does_so_at_once_and_says_nothing(task: str) -> None:
    with started(task) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"is": "there"}
        process.terminate()
        assert process.wait(20) != 0
        assert process.communicate() == ("", "")


@pytest.mark.slow
def test_a_full_disk_is_the_user_s_to_mend() -> None:
    with started(ON_A_FULL_DISK) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())["error"]
    assert said["where"]["path"] == "notes.part"
    assert "the disk is full" in said["what"]
