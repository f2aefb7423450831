"""`disconer init`: a configuration for the user's own data."""

from __future__ import annotations

import warnings
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from disconer.cli.console import progress
from disconer.core.counting import counted
from disconer.core.errors import DisconerError, DisconerWarning, Where
from disconer.formats.target import new_file, refuse_existing


def init(
    source: Path,
    out: Path,
    *,
    preset: str | None = None,
    head: str | None = None,
    start_from: str | None = None,
    format: str | None = None,
    ratios: str | None = None,
    seed: int = 0,
    group: str | None = None,
    force: bool = False,
) -> list[str]:
    """Write a configuration for the data in `source`, and splits if it has none; returns what was found.

    head: the kind of head; None: that of the preset, or the default.
    start_from: the model to start training from; its sections of the configuration are copied.
    ratios, seed, group: of new splits; see `Division`.
    New splits are written to a folder next to `out`.
    """
    from disconer.config import HEADS, load_config
    from disconer.config.template import template
    from disconer.core.corpus import seen_in_training
    from disconer.evaluate.stats import survey
    from disconer.start.propose import findings, propose, read_start, small_splits
    from disconer.start.splits import DEV, TEST, TRAIN, Division, check_target, plan_splits

    refuse_existing(out, force)
    division = Division.parse(ratios, seed, group)
    if head is not None:
        HEADS.get(head)  # report an unknown one before the data is read
    base = load_config(preset) if preset else None
    start = read_start(start_from) if start_from else None
    if start:
        base = start.settings(base, head)
    folder = out.parent / f"{out.stem}-data"
    splits = plan_splits(source, format, folder, division)
    if not splits.taken and (ratios or seed or group):
        raise DisconerError(
            "The data already has splits, so there is nothing to split",
            where=Where(str(source)),
            fix="Leave out --ratios, --seed and --group, or give the training data alone.",
        )
    if splits.assigned:
        check_target(folder, source, force=force)
    tokenizer = base.data.tokenizer if base else "words"
    found = survey(progress(splits.documents(TRAIN), "documents"), tokenizer)
    if not found.entities:
        raise DisconerError(
            "There are no entities to learn from",
            where=Where(str(splits.source)),
            got=f"{counted(found.documents, 'documents')} without any",
            fix="Check that the annotations are next to the texts (`disconer stats` shows what is read).",
        )
    proposed = propose(splits, found, base, head, folder=out.parent)
    lines = list(findings(proposed, found, splits))
    if start:
        lines += start.findings(proposed.config, found.labels)
    others = {split: splits.documents(split) for split in (DEV, TEST) if split in splits.paths}
    for warning in (*small_splits(found, splits), *seen_in_training(splits.documents(TRAIN), others)):
        warnings.warn(warning, DisconerWarning, stacklevel=2)
    header = [f"Written by `disconer init` for {source}.", "", f"  disconer train {out} --out model", "", *lines]
    if splits.assigned:
        splits.write(folder)
    with new_file(out) as stream:
        stream.write(template(proposed.config, "\n".join(header)).encode())
    return lines


def copy_preset(preset: str, out: Path, *, force: bool = False) -> None:
    """Write a preset unchanged, to be edited."""
    from disconer.config import preset_text

    refuse_existing(out, force)
    text = preset_text(preset)
    with new_file(out) as stream:
        stream.write(text.encode())


def init_cli(
    source: Annotated[
        Path | None, typer.Argument(metavar="DATA", help="Annotated data of any format: a file, folder or archive.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Configuration to write.")] = Path("config.yaml"),
    preset: Annotated[str | None, typer.Option(help="Start from a preset, such as chia or cadec.")] = None,
    head: Annotated[
        str | None, typer.Option(help="Kind of head, such as tagger; by default that of the preset, or grid.")
    ] = None,
    start_from: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Model to start training from: a name, a run or a folder.")
    ] = None,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of DATA; detected if not given.")] = None,
    ratios: Annotated[
        str | None, typer.Option("--ratios", metavar="A/B/C", help="Sizes of new splits; default: 80/10/10.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed for new splits.")] = 0,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="PATTERN",
            help="Keep documents together if this regular expression matches the same text in their ids: '^(\\d+)'.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Overwrite existing files.")] = False,
) -> None:
    """Write a commented configuration for your own data.

    Files or folders in DATA named train, dev and test are used as splits; otherwise documents are split 80/10/10.

    Without DATA, the preset is written unchanged.
    """
    if source is not None:
        lines = init(
            source,
            out,
            preset=preset,
            head=head,
            start_from=start_from,
            format=from_format,
            ratios=ratios,
            seed=seed,
            group=group,
            force=force,
        )
        print("\n".join(lines))
    elif preset is not None:
        copy_preset(preset, out, force=force)
    else:
        raise DisconerError("There is nothing to start from", fix="Name a folder of annotated data, or a --preset.")
    print(f"\nWritten to {out}. Next: disconer train {quote(str(out))} --out model")
