"""The service on Ray while a replica is killed, the model is updated, under overload, and at shutdown.

    python benchmarks/serving_on_ray.py MODEL OTHER TEXTS [--replicas 2] [--clients 16] [--seconds 30] [--json]

MODEL, OTHER: as for `disconer serve`; the service is updated from one to the other. TEXTS: annotated documents, whose
sentences are sent as texts.

`disconer serve --ray` is started with a local Ray, with clients in this process. Every response is compared with that
of the same model to the same text sent alone. The output of int8 models depends on the batch: for them only `strange`
is meaningful, which counts responses about another text than the one sent.

load: concurrent clients, each sending the next request after a response.
kill: the same, and kill -9 of a replica in the middle. Failed requests are those without status 200.
change: the same, while `disconer serve --ray ADDRESS --model OTHER` runs, until it returns.
overload: three times its capacity.
end: SIGTERM under load.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path
from typing import Any

from load import LOST, Answer, closed_loop, one_by_one, open_loop, requests_of
from serving import HOST, OVERLOAD, Server, latency, outcomes, sentences, serving, show, wrong

FIRST, SECOND = "model", "other"  # what answers call the models
REPLICA = b"ray::ServeReplica"
CHANGE_SECONDS = 600.0  # at most
# Ray sends its token to an address only if configured to; this address is of the Ray that we start.
WITH_TOKEN = os.environ | {"RAY_AUTH_MODE": "token"}


def replicas_of(server: Server) -> list[int]:
    """The processes of this server's replicas."""
    return [process for process in descendants(server.process.pid) if _command(process).startswith(REPLICA)]


def descendants(process: int) -> Iterator[int]:
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, thread.read_text().split()):
            yield child
            yield from descendants(child)


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return b""


def ray_address(server: Server) -> str:
    """The address of Ray, from the server's output."""
    assert server.process.stderr is not None
    found = re.search(r"--ray (\S+)", server.process.stderr.readline())
    assert found, "the server does not say how to update it"
    return found.group(1)


async def change(address: str, model: str, replicas: int) -> None:
    command = [sys.executable, "-m", "disconer", "serve", "--ray", address, "--replicas", str(replicas)]
    changing = await asyncio.create_subprocess_exec(
        *command, "--model", f"{SECOND}={model}", env=WITH_TOKEN, stderr=subprocess.DEVNULL
    )
    assert await changing.wait() == 0


async def kill_one(server: Server, after: float) -> None:
    await asyncio.sleep(after)
    os.kill(replicas_of(server)[0], signal.SIGKILL)


def model_of(answer: Answer) -> str:
    return str(json.loads(answer.body)["model"]) if answer.outcome == 200 else ""


def strange(answers: Sequence[Answer], alone: Sequence[Answer]) -> int:
    sent = [json.loads(answer.body)["documents"][0]["text"] for answer in alone]
    return sum(json.loads(answer.body)["documents"][0]["text"] != sent[answer.number] for answer in answers)


def figures_of(answers: Sequence[Answer], alone: dict[str, Sequence[Answer]]) -> dict[str, Any]:
    by_model = {model: [answer for answer in answers if model_of(answer) == model] for model in alone}
    return {
        "answered": {model: len(found) for model, found in by_model.items()},
        "wrong": {model: wrong(found, alone[model]) for model, found in by_model.items()},
        "strange": sum(strange(found, alone[model]) for model, found in by_model.items()),
        "failed": sum(answer.outcome != 200 for answer in answers),
        "outcomes": outcomes(answers),
        **latency(answers),
    }


async def during(load: Awaitable[list[Answer]], event: Awaitable[None], enough: asyncio.Event) -> list[Answer]:
    """The responses during an event."""
    asking = asyncio.ensure_future(load)
    await event
    enough.set()
    return await asking


async def measure(
    models: tuple[str, str], texts: Sequence[str], *, replicas: int, clients: int, seconds: float
) -> dict[str, Any]:
    requests = requests_of(texts)
    figures: dict[str, Any] = {}
    with serving(models[0], "--ray", "--replicas", str(replicas)) as server:
        address, at = ray_address(server), (HOST, server.port)
        await one_by_one(*at, requests[:20])  # warm up
        alone = {FIRST: await one_by_one(*at, requests)}

        answers = await closed_loop(*at, requests, clients=clients, seconds=seconds)
        speed = sum(answer.outcome == 200 for answer in answers) / seconds
        figures["load"] = {"per_second": speed, **figures_of(answers, alone)}

        load = closed_loop(*at, requests, clients=clients, seconds=seconds)
        answers, _ = await asyncio.gather(load, kill_one(server, seconds / 3))
        figures["kill"] = figures_of(answers, alone)

        enough = asyncio.Event()
        load = closed_loop(*at, requests, clients=clients, seconds=CHANGE_SECONDS, enough=enough)
        answers = await during(load, change(address, models[1], replicas), enough)
        alone[SECOND] = await one_by_one(*at, requests)
        figures["change"] = figures_of(answers, alone)

        answers = await open_loop(*at, requests, rate=OVERLOAD * speed, seconds=seconds)
        figures["overload"] = figures_of(answers, alone)

        load = asyncio.ensure_future(closed_loop(*at, requests, clients=clients, seconds=CHANGE_SECONDS))
        await asyncio.sleep(min(3.0, seconds / 4))
        status = await asyncio.to_thread(server.end)
        figures["end"] = {"exit_status": status, **figures_of(await load, alone)}
    return figures


def verdicts(figures: dict[str, Any], clients: int) -> dict[str, bool]:
    """The requirements."""
    killed, changed, refused = (figures[phase] for phase in ("kill", "change", "overload"))
    return {
        "no wrong answer": not any(any(phase["wrong"].values()) for phase in figures.values()),
        "no answer about another text": not any(phase["strange"] for phase in figures.values()),
        "a killed replica fails only what it held, with 503": killed["failed"] <= clients
        and set(killed["outcomes"]) <= {"200", "503"},
        "a change of model fails nothing": changed["failed"] == 0 and changed["answered"][SECOND] > 0,
        "overload is refused with 429": set(refused["outcomes"]) <= {"200", "429"},
        "nothing is lost before the end": not any(
            figures[phase]["outcomes"].get(LOST) for phase in ("load", "kill", "change", "overload")
        ),
        "ends by itself": figures["end"]["exit_status"] == 0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("other")
    parser.add_argument("texts", type=Path)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--sentences", type=int, default=200, help="number of distinct texts")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    texts = sentences(given.texts, given.sentences)
    figures = asyncio.run(
        measure(
            (given.model, given.other),
            texts,
            replicas=given.replicas,
            clients=given.clients,
            seconds=given.seconds,
        )
    )
    figures["holds"] = verdicts(figures, given.clients)
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        show(figures)
    sys.exit(not all(figures["holds"].values()))


if __name__ == "__main__":
    main()
