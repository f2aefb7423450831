"""What `disconer predict --ray` takes and says."""

from __future__ import annotations

import os
import sys

from disconer.core.counting import counted
from disconer.core.errors import DisconerError, Where
from disconer.formats.remote import is_url
from disconer.predict.local.work import Work
from disconer.predict.ray.plan import Cluster, check_ray_installed

FORMATS = ("jsonl", "parquet")


def refuse_without_ray(out: str | None, actors: int | None, gpus_per_actor: float) -> None:
    """Reject options that need --ray."""
    if actors is not None or gpus_per_actor:
        raise DisconerError("--actors and --gpus-per-actor need --ray", fix="Add --ray, or use --jobs.")
    if out is not None and is_url(out):
        raise DisconerError("A remote output needs --ray", where=Where(out), fix="Add --ray, or name a local file.")


def refuse_with_ray(*, jobs: int, shard: str | None, device: str | None) -> None:
    """Reject options that conflict with --ray, which distributes work and hardware itself."""
    if jobs > 1 or shard is not None:
        raise DisconerError("Ray distributes the work itself", fix="Use --actors N instead of --jobs and --shard.")
    if device not in (None, "cpu"):
        raise DisconerError(
            "Ray assigns GPUs itself", got=f"--device {device}", fix="Use --gpus-per-actor 1, or a fraction."
        )


def predict_on_ray(work: Work, out: str | None, to_format: str | None, cluster: Cluster, *, force: bool) -> None:
    """Predict into a folder of parts, local or remote, and report the outcome on stderr."""
    check_ray_installed("pyarrow", "fsspec")
    to = to_format or FORMATS[0]
    folder = _checked_folder(out, to)
    from disconer.predict.ray.work import RayWork

    given = [(_as_everywhere(path), format) for path, format in work.given]
    outcome = RayWork(given, work.inputs, work.settings, work.ledger, to=to).into(folder, cluster, force=force)
    print(f"written: {_amount(outcome.written, outcome.parts)} in {folder}", file=sys.stderr)
    if outcome.parts_before:
        skipped = _amount(outcome.written_before, outcome.parts_before)
        print(f"skipped: {skipped} already there (--force predicts them again)", file=sys.stderr)


def _amount(n_documents: int, n_parts: int) -> str:
    return f"{counted(n_documents, 'documents')} in {counted(n_parts, 'parts')}"


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
    """The path as seen by the reader, which runs in another process."""
    if path.startswith("memory:"):
        raise DisconerError(
            "Other processes cannot read what is in this process's memory", where=Where(path), fix="Write it to a file."
        )
    return path if is_url(path) else os.path.abspath(path)
