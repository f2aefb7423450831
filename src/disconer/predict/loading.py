"""Loading a model, and choosing what runs it: ONNX Runtime on CPUs, torch on GPUs. No torch here until it is chosen."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import get_args

from disconer.core.errors import DisconerError, DisconerWarning, Where
from disconer.core.places import ONNX_GRAPH, WEIGHTS
from disconer.core.plugins import TRAIN, is_installed
from disconer.nn.runtime import AnyModel, Device, Precision, RuntimeName
from disconer.predict.settings import Settings
from disconer.store.description import read_description
from disconer.store.graphs import UNKNOWN, NoGraphs, StoredGraphs, read_graphs
from disconer.store.names import find_model

# Device files of GPUs that torch may be able to use, on Linux: NVIDIA's, those of Jetson and WSL, AMD's.
GPU_FILES = ("nvidia[0-9]*", "nvhost-gpu", "dxg", "kfd")
WINDOWS_DRIVER = Path("C:/Windows/System32/nvcuda.dll")


def load(
    folder: Path, *, runtime: RuntimeName | None = None, device: Device = None, precision: Precision = "fp32"
) -> AnyModel:
    """The model in a folder, for a runtime.

    runtime: None chooses: torch for a GPU or bf16, else ONNX Runtime; a model without graphs runs in torch.
    """
    if runtime is not None and runtime not in (known := get_args(RuntimeName)):
        raise DisconerError(f"There is no runtime {runtime!r}", expected=f"one of {', '.join(known)}")
    if is_exported(folder):
        if runtime == "torch":
            raise DisconerError(
                "torch cannot run a model that was exported to ONNX",
                where=Where(str(folder)),
                fix="Use the model that it was exported from.",
            )
        from disconer.predict.onnx.model import load_exported_model

        return load_exported_model(folder)
    if runtime == "torch" or (runtime is None and _is_for_torch(device, precision)):
        return _load_in_torch(folder)
    stored = read_graphs(folder)
    if isinstance(stored, StoredGraphs):
        from disconer.predict.onnx.model import load_stored_model

        return load_stored_model(folder, stored)
    read_description(folder)  # if there is no model at all, report that first
    if runtime == "onnx" or precision == "int8":
        raise _only_in_torch(folder, stored, precision)
    model = _load_in_torch(folder, because=stored.reason)
    warnings.warn(
        f"{folder}: this model runs in torch, as it has no graph for ONNX Runtime: {stored.reason}",
        DisconerWarning,
        stacklevel=2,
    )
    return model


def _only_in_torch(folder: Path, why: NoGraphs, precision: Precision) -> DisconerError:
    """The error for a model without graphs that shall run in ONNX Runtime."""
    instead = "Run it in torch, in fp32 or bf16" if precision == "int8" else "Run it in torch"
    write = ", or write its graphs: `disconer export MODEL OUT --compact`" if why is UNKNOWN else ""
    return DisconerError(
        "This model does not run in ONNX Runtime",
        where=Where(str(folder)),
        got=why.reason,
        fix=f"{instead}{write}.",
    )


def is_exported(folder: Path) -> bool:
    """Whether a model's graphs have its weights, so that it runs in ONNX Runtime alone."""
    return (folder / ONNX_GRAPH).is_file() and not (folder / WEIGHTS).is_file()


def shares_network(settings: Settings) -> bool:
    """Whether workers use one network together: on a GPU, if all else of the model works without torch."""
    folder = find_model(settings.model)
    return runs_on_gpu(settings) and not is_exported(folder) and isinstance(read_graphs(folder), StoredGraphs)


def runs_on_gpu(settings: Settings) -> bool:
    """Whether a prediction runs on a GPU, as `load` chooses."""
    if settings.runtime == "onnx" or settings.precision == "int8":
        return False
    return gpu_is_here() if settings.device is None else settings.device != "cpu"


def _is_for_torch(device: Device, precision: Precision) -> bool:
    if device is not None:
        return str(device) != "cpu"
    return precision == "bf16" or (precision != "int8" and gpu_is_here())


def gpu_is_here() -> bool:
    """Whether there is a GPU that torch can use. Asking torch itself takes seconds, so it is the last to be asked."""
    if sys.modules.get("torch") is None and not (_has_driver() and is_installed("torch")):
        return False
    import torch

    return torch.cuda.is_available()


def _has_driver() -> bool:
    if sys.platform == "win32":
        return WINDOWS_DRIVER.exists()
    return any(True for pattern in GPU_FILES for _ in Path("/dev").glob(pattern))


def _load_in_torch(folder: Path, *, because: str | None = None) -> AnyModel:
    if missing := [package for package in TRAIN[:2] if not is_installed(package)]:
        read_description(folder)
        raise DisconerError(
            f"Running this model in torch needs packages that are not installed: {', '.join(missing)}",
            where=Where(str(folder)),
            got=because and f"no graph for ONNX Runtime ({because})",
            fix="Install them: pip install 'disconer[train]'.",
        )
    from disconer.store.checkpoint import load_model

    return load_model(folder)
