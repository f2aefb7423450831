"""What `disconer predict --ray` takes and says."""

from __future__ import annotations

import os
import sys

from disconer.core.errors import DisconerError, Where
from disconer.formats.remote import is_url
from disconer.predict.local.work import Work
from disconer.predict.ray.plan import Cluster, check_ray_installed

FORMATS = ("jsonl", "parquet")


def refuse_without_ray(out: str | None, actors: int | None, gpus_per_actor: float) -> None:
    """Say what goes with --ray alone."""
    if actors is not None or gpus_per_actor:
        raise DisconerError("--actors and --gpus-per-actor go with --ray", fix="Add --ray, or say --jobs.")
    if out is not None and is_url(out):
        raise DisconerError(
            "Only with --ray can the output lie elsewhere", where=Where(out), fix="Add --ray, or name a file here."
        )


def refuse_with_ray(*, jobs: int, shard: str | None, device: str | None) -> None:
    """Say what does not go with --ray, as Ray itself shares out work and hardware."""
    if jobs > 1 or shard is not None:
        raise DisconerError("Ray shares the work itself", fix="Say --actors N in place of --jobs and --shard.")
    if device not in (None, "cpu"):
        raise DisconerError(
            "Ray shares GPUs out itself", got=f"--device {device}", fix="Say --gpus-per-actor 1, or a part of one."
        )


def predict_on_ray(work: Work, out: str | None, to_format: str | None, cluster: Cluster, *, force: bool) -> None:
    """Predict into a folder of parts, wherever it lies, and say on stderr what came of it."""
    check_ray_installed("pyarrow", "fsspec")
    to = to_format or FORMATS[0]
    folder = _checked_folder(out, to)
    from disconer.predict.ray.work import RayWork

    given = [(_as_everywhere(path), format) for path, format in work.given]
    outcome = RayWork(given, work.inputs, work.settings, work.ledger, to=to).into(folder, cluster, force=force)
    print(f"written: {_amount(outcome.written, outcome.parts)} in {folder}", file=sys.stderr)
    if outcome.parts_before:
        told = _amount(outcome.written_before, outcome.parts_before)
        print(f"passed over: {told} that were there already (--force does them again)", file=sys.stderr)


def _amount(n_documents: int, n_parts: int) -> str:
    return f"{n_documents} documents in {n_parts} part{'' if n_parts == 1 else 's'}"


def _checked_folder(out: str | None, to: str) -> str:
    suffix = os.path.splitext(out or "")[1]
    if out is None or suffix or to not in FORMATS:
        raise DisconerError(
            "With --ray the output is a folder of parts, in native JSONL or Parquet",
            where=Where(out),
            got=f"--to {to}" if to not in FORMATS else f"the name of a {suffix} file" if suffix else None,
            fix="Name a folder with --out, and --to parquet for Parquet; `disconer convert` makes one file of it.",
        )
    return out


def _as_everywhere(path: str) -> str:
    """The path as the reader finds it, who runs in another process."""
    if path.startswith("memory:"):
        raise DisconerError(
            "What is in the memory of this process no other can read", where=Where(path), fix="Write it to a file."
        )
    return path if is_url(path) else os.path.abspath(path)
