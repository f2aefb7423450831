"""All measurements of a model, one after another; the environment, and the peak memory of a job."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from disconer.bench.prediction import (
    Encoder,
    Latency,
    Runtimes,
    Startup,
    Throughput,
    Way,
    measure_latency,
    measure_runtimes,
    measure_startup,
    measure_throughput,
    predict,
)
from disconer.bench.sample import BareEncoder, OnnxEncoder, Sample, take_sample
from disconer.bench.stages import Stages, measure_stages
from disconer.bench.timing import MEGABYTE, Clock, Settings, make_clock
from disconer.bench.training import Training, measure_training
from disconer.core.errors import DisconerError
from disconer.core.types import Document
from disconer.core.version import __version__
from disconer.nn.devices import usable_device
from disconer.nn.encoders.transformer.encoder import TransformerWords
from disconer.nn.runtime import AnyModel, Precision
from disconer.nn.windows import Windower
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model


@dataclass(frozen=True, slots=True)
class Report:
    """Measurements; parts that were not requested are None."""

    environment: dict[str, object]
    settings: Settings
    sample: dict[str, int]
    throughput: Throughput | None = None
    latency: Latency | None = None
    runtimes: Runtimes | None = None
    startup: Mapping[str, Startup] | None = None
    stages: Stages | None = None
    memory: Memory | None = None
    training: Training | None = None

    def to_dict(self) -> dict[str, Any]:
        timed = {
            name: part and part.to_dict()
            for name, part in (
                ("throughput", self.throughput),
                ("latency", self.latency),
                ("runtimes", self.runtimes),
                ("stages", self.stages),
                ("training", self.training),
            )
        }
        return {
            "environment": self.environment,
            "settings": asdict(self.settings),
            "sample": self.sample,
            **timed,
            "startup": self.startup and {runtime: found.to_dict() for runtime, found in self.startup.items()},
            "memory": self.memory and asdict(self.memory),
        }


def bench(
    model: AnyModel,
    documents: Iterable[Document],
    settings: Settings | None = None,
    *,
    encoder: AnyModel | None = None,
    other: AnyModel | None = None,
    folder: Path | None = None,
) -> Report:
    """Measure a model on documents.

    encoder: the model whose bare encoder is the baseline; None: the model itself, or `other`.
    other: the same model for another runtime, to be compared. folder: of the model, for the start of a process.
    """
    settings = settings or Settings()
    in_int8 = settings.precision == "int8"
    device = usable_device(settings.device or ("cpu" if in_int8 else None))
    if settings.threads:
        _use_threads(settings.threads)
    trained = next((one for one in (model, other) if isinstance(one, Model)), None)
    measure = _torch_model(encoder or trained)
    windower = Windower(model.config, model.reader, model.max_subwords)
    sample = take_sample(documents, windower, limit=settings.limit, given=settings.given)
    surroundings = environment(device)
    measured = _measure(model, measure, windower, sample, device, settings)
    compared = _compared(model, other, device, settings)
    if "runtimes" in settings.parts and len(compared) > 1:
        clock = make_clock(settings.clock)
        measured["runtimes"] = measure_runtimes(compared, sample, repeats=settings.repeats, clock=clock)
    if "startup" in settings.parts and folder is not None and device.type == "cpu":
        measured["startup"] = measure_startup(folder, compared, repeats=settings.repeats)
    if "training" in settings.parts and trained is not None and not in_int8:
        measured["training"] = measure_training(
            trained, windower, sample, device, repeats=settings.repeats, clock=_clock(settings, device)
        )
    return Report(surroundings, settings, sample.counts(), **measured)


def _compared(
    model: AnyModel, other: AnyModel | None, device: torch.device, settings: Settings
) -> dict[Way, Recognizer]:
    """A model in each runtime. torch has no int8, so that this is compared with fp32 in its own runtime."""
    ways: list[tuple[AnyModel, Precision]] = [(one, settings.precision) for one in (model, other) if one is not None]
    if settings.precision == "int8":
        ways = [(model, "int8"), (model, "fp32")] if other is not None else [(model, "int8")]
    recognizers = [(Recognizer(one, device=str(device), precision=precision), precision) for one, precision in ways]
    return {Way(recognizer.runtime, precision): recognizer for recognizer, precision in recognizers}


def _measure(
    model: AnyModel, measure: Model, windower: Windower, sample: Sample, device: torch.device, settings: Settings
) -> dict[str, Any]:
    recognizer = Recognizer(model, device=str(device), precision=settings.precision)
    encoder: Encoder = BareEncoder(measure, device, settings.encoder_precision)
    if recognizer.runtime == "onnx" and isinstance(measure.network.words.encoder, TransformerWords):
        encoder = OnnxEncoder(measure)
    clock = _clock(settings, device)
    timed: dict[str, Any] = {"repeats": settings.repeats, "clock": clock}
    found: dict[str, Any] = {}
    if "memory" in settings.parts:  # first, so that what others leave behind is not counted
        found["memory"] = peak_memory(partial(predict, recognizer, sample), device)
    if "throughput" in settings.parts:
        found["throughput"] = measure_throughput(recognizer, encoder, sample, **timed)
    if "latency" in settings.parts:
        found["latency"] = measure_latency(recognizer, encoder, windower, sample, **timed)
    if "stages" in settings.parts:
        found["stages"] = measure_stages(recognizer, sample, precision=settings.precision, **timed)
    return found


def _clock(settings: Settings, device: torch.device) -> Clock:
    return make_clock(settings.clock, partial(torch.cuda.synchronize, device) if device.type == "cuda" else None)


def _use_threads(number: int) -> None:
    torch.set_num_threads(number)
    os.environ["OMP_NUM_THREADS"] = str(number)  # which other runtimes obey when they load a network


def _torch_model(model: AnyModel | None) -> Model:
    if isinstance(model, Model):
        return model
    raise DisconerError(
        "This model has no encoder that torch can run",
        fix="Give the original model with --encoder.",
    )


def environment(device: torch.device) -> dict[str, object]:
    """What figures depend on besides the model and the data."""
    return {
        "disconer": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": version("transformers"),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


_STATUS, _CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # written to clear_refs, this makes Linux reset the peak resident size


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes.

    process: the highest resident size of the whole process while the job ran: Python, torch, model and data;
        None where the system does not report it.
    cuda: the most that was allocated on the GPU, the model included; None on the CPU.
    """

    process: float | None
    cuda: float | None


def peak_memory(job: Callable[[], object], device: torch.device) -> Memory:
    """Run a job and measure its peak memory."""
    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats(device)
    _reset_peak()
    job()
    return Memory(_peak(), torch.cuda.max_memory_allocated(device) / MEGABYTE if on_gpu else None)


def _reset_peak() -> None:
    with suppress(OSError):  # no Linux, or a guarded one: the peak is then that of the process so far
        _CLEAR_REFS.write_text(_RESET_PEAK)


def _peak() -> float | None:
    try:
        status = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return int(status["VmHWM"].split()[0]) * 1024 / MEGABYTE
    except (OSError, KeyError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE
