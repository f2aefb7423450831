"""The service under load: correct responses, throughput, latency, memory, overload, and shutdown.

    python benchmarks/serving.py MODEL TEXTS [--clients 64] [--seconds 60] [--json]

MODEL: as for `disconer serve`. TEXTS: annotated documents, whose sentences are sent as texts.

A server is started on the loopback device, with clients in this process, so both share the machine. OMP_NUM_THREADS
sets the number of threads of the model, here and in the baseline.

pipe: `Recognizer.pipe` over the same texts in a separate process.
closed: concurrent clients, each sending the next request after a response. Every response is compared with that of
    the same text sent alone. Memory: the server's, after a third of the time and at the end.
80 %: requests at 80 % of that rate, at random times. Latency counts from when a request was due.
overload: three times the server's capacity, long enough to fill its queue twice.
end: SIGTERM under load. A request is lost if it was sent and got no complete response.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from load import LOST, Answer, closed_loop, one_by_one, open_loop, requests_of

from disconer import read
from disconer.serve.settings import Limits
from disconer.text import segment

HOST = "127.0.0.1"
SCORE_TOLERANCE = 1e-3  # sums of a batch may be added in another order
OVERLOAD = 3.0
MODERATE = 0.8
MEGABYTE = 2**20


def sentences(path: Path, count: int) -> list[str]:
    """The first distinct sentences of annotated documents."""
    found = (
        document.text[sentence.start : sentence.end]
        for document in map(segment, read(path))
        for sentence in document.sentences or ()
    )
    return list(islice(dict.fromkeys(found), count))


def pipe_speed(model: str, texts: Sequence[str], seconds: float) -> float:
    """Texts per second of `Recognizer.pipe`."""
    from disconer.predict.recognizer import Recognizer

    recognizer = Recognizer.from_pretrained(model)
    list(recognizer.pipe(texts))  # warm up
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        done += sum(1 for _ in recognizer.pipe(texts))
    return done / (time.perf_counter() - start)


class Server:
    """`disconer serve` in a separate process. options: further options of the command."""

    def __init__(self, model: str, *options: str) -> None:
        command = [sys.executable, "-m", "disconer", "serve", "--model", f"model={model}", "--port", "0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        said = ""
        while not (found := re.search(r"http://[\d.]+:(\d+)", said)):
            line = self.process.stderr.readline()
            if not line:
                raise SystemExit(f"the server did not start:\n{said}")
            said += line
        self.port = int(found.group(1))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()  # a full pipe would stop the server

    @property
    def memory(self) -> float:
        """Resident, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) * 1024 / MEGABYTE

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(120)


@contextmanager
def serving(model: str, *options: str) -> Iterator[Server]:
    server = Server(model, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()


def quantile(answers: Sequence[Answer], part: float) -> float:
    """A percentile of the response time, in milliseconds."""
    ordered = sorted(answer.seconds for answer in answers)
    return 1000 * ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


def latency(answers: Sequence[Answer]) -> dict[str, float]:
    p50, p99 = quantile(answers, 0.5), quantile(answers, 0.99)
    return {"p50_ms": p50, "p99_ms": p99, "p99_to_p50": p99 / p50}


def outcomes(answers: Sequence[Answer]) -> dict[str, int]:
    return {str(outcome): count for outcome, count in Counter(answer.outcome for answer in answers).most_common()}


def wrong(answers: Sequence[Answer], alone: Sequence[Answer]) -> int:
    """Responses that differ from those to the same texts sent alone."""
    expected = [json.loads(answer.body)["documents"][0] for answer in alone]
    return sum(
        answer.outcome == 200 and not _same(json.loads(answer.body)["documents"][0], expected[answer.number])
        for answer in answers
    )


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    pairs = list(zip(one["entities"], other["entities"], strict=False))
    return (
        one["text"] == other["text"]
        and len(one["entities"]) == len(other["entities"])
        and all((a["label"], a["fragments"]) == (b["label"], b["fragments"]) for a, b in pairs)
        and all(abs(a["score"] - b["score"]) < SCORE_TOLERANCE for a, b in pairs)
    )


async def memory_after(server: Server, seconds: float) -> float:
    await asyncio.sleep(seconds)
    return server.memory


async def measure(model: str, texts: Sequence[str], *, clients: int, seconds: float) -> dict[str, Any]:
    requests = requests_of(texts)
    figures: dict[str, Any] = {}
    with serving(model) as server:
        at = (HOST, server.port)
        await one_by_one(*at, requests[:20])  # warm up
        alone = await one_by_one(*at, requests)
        figures["alone"] = {"per_second": 1 / (sum(answer.seconds for answer in alone) / len(alone)), **latency(alone)}

        early = asyncio.create_task(memory_after(server, seconds / 3))
        answers = await closed_loop(*at, requests, clients=clients, seconds=seconds)
        speed = sum(answer.outcome == 200 for answer in answers) / seconds
        figures["closed"] = {"per_second": speed, "wrong": wrong(answers, alone), **latency(answers)}
        figures["closed"] |= {"outcomes": outcomes(answers), "memory_mb": [await early, server.memory]}

        answers = await open_loop(*at, requests, rate=MODERATE * speed, seconds=seconds / 2)
        figures["80 %"] = {"wrong": wrong(answers, alone), **latency(answers), "outcomes": outcomes(answers)}

        overload = max(seconds / 4, 2 * Limits().queue_texts / (OVERLOAD - 1) / speed)
        answers = await open_loop(*at, requests, rate=OVERLOAD * speed, seconds=overload)
        taken = [answer for answer in answers if answer.outcome == 200]
        refused = [answer for answer in answers if answer.outcome in (429, 503)]
        figures["overload"] = {
            "asked_per_second": len(answers) / overload,
            "answered": len(taken),
            "wrong": wrong(answers, alone),
            "refusal_p50_ms": quantile(refused, 0.5),
            "refusal_p99_ms": quantile(refused, 0.99),
            "outcomes": outcomes(answers),
        }

        load = asyncio.create_task(closed_loop(*at, requests, clients=clients, seconds=seconds))
        await asyncio.sleep(min(3.0, seconds / 4))
        status = await asyncio.to_thread(server.end)
        answers = await load
        figures["end"] = {"exit_status": status, "wrong": wrong(answers, alone), "outcomes": outcomes(answers)}
    return figures


def verdicts(figures: dict[str, Any]) -> dict[str, bool]:
    """The requirements."""
    phases = ("closed", "80 %", "overload", "end")
    early, late = figures["closed"]["memory_mb"]
    return {
        "no wrong answer": not any(figures[phase]["wrong"] for phase in phases),
        "no lost request": not any(figures[phase]["outcomes"].get(LOST) for phase in phases),
        "speed at least 0.7 of pipe": figures["closed"]["per_second"] >= 0.7 * figures["pipe"]["per_second"],
        "p99 below 3 × p50 at 80 %": figures["80 %"]["p99_to_p50"] < 3,
        "memory does not grow (5 %)": late < 1.05 * early,
        "overload is refused within 1 s": figures["overload"]["refusal_p99_ms"] < 1000,
        "ends by itself": figures["end"]["exit_status"] == 0,
    }


def show(figures: dict[str, Any]) -> None:
    for phase, values in figures.items():
        print(f"\n{phase}")
        for name, value in values.items():
            if isinstance(value, bool):
                shown = "yes" if value else "NO"
            elif isinstance(value, float):
                shown = f"{value:,.1f}" if value > 10 else f"{value:.2f}"
            elif isinstance(value, list):
                shown = " → ".join(f"{part:,.1f}" for part in value)
            elif isinstance(value, dict):
                shown = ", ".join(f"{key}: {count:,}" for key, count in value.items())
            else:
                shown = str(value)
            print(f"  {name:32} {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("texts", type=Path)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sentences", type=int, default=500, help="number of distinct texts")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only-pipe", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    texts = sentences(given.texts, given.sentences)
    if given.only_pipe:
        print(pipe_speed(given.model, texts, given.seconds / 4))
        return
    alone = subprocess.run([sys.executable, *sys.argv, "--only-pipe"], check=True, capture_output=True, text=True)
    figures: dict[str, Any] = {"pipe": {"per_second": float(alone.stdout)}}
    figures |= asyncio.run(measure(given.model, texts, clients=given.clients, seconds=given.seconds))
    figures["pipe"]["part_of_it"] = figures["closed"]["per_second"] / figures["pipe"]["per_second"]
    figures["holds"] = verdicts(figures)
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        show(figures)
    sys.exit(not all(figures["holds"].values()))


if __name__ == "__main__":
    main()
