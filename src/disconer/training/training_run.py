"""A training run, from configuration to model, and what it saves about the best one: metrics, entities, speed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator

from disconer.config import Config
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.evaluate import Evaluation
from disconer.evaluate.entity_lists import LISTS, dump_lists, listed_document
from disconer.export.stored import GraphsAhead, graphs_ahead
from disconer.nn.devices import use_chosen_threads
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.heads.kind import kind_of
from disconer.nn.network import build_network
from disconer.nn.scores import UNSCALED
from disconer.nn.windows import Windower
from disconer.predict.recognizer import Recognizer
from disconer.runs.processes import LONG_PATIENCE, PATIENCE, alone_in, build_accelerator, check_agreement, check_shared
from disconer.store.checkpoint import Model, load_model, record_measures
from disconer.store.graphs import NoGraphs, StoredGraphs, write_graphs
from disconer.text.syntax.spec import NONE
from disconer.training.data import TrainingData, read_data, with_heads
from disconer.training.display import Display
from disconer.training.examples import Example, Learnable, examples_fingerprint, make_examples
from disconer.training.loop import Loop, Measured, measure, scale_on
from disconer.training.predicted import predicted_model
from disconer.training.record import check_record, facts_of_all, run_facts, write_record
from disconer.training.start_from import check_start, started_model
from disconer.training.state import SPEED, RunFolder


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The best model's folder and metrics."""

    folder: Path
    best_epoch: int
    dev: Evaluation
    test: Evaluation | None


def train(
    config: Config, out: str | Path, *, resume: bool = False, force: bool = False, display: Display | None = None
) -> TrainingResult:
    """Train a model and save its best and last state in `out`.

    resume: continue the run in `out`, if there is one, to the same result as without interruption.
    force: replace the run in `out`, if there is one.
    """
    if resume and force:
        raise DisconerError("A run is either resumed or replaced", fix="Leave out --resume or --force.")
    folder = RunFolder(Path(out))
    start = config.training.start_from
    if start is not None and not (resume and folder.can_resume):  # a run to resume was checked when it was started
        check_start(config, start, replaced=folder.models if force else ())
    patience = LONG_PATIENCE if config.syntax.needed else PATIENCE
    accelerator = build_accelerator(config.training.precision, patience=patience)
    folder.open(resume=resume, force=force)
    display = display or Display(quiet=not accelerator.is_main_process)
    with alone_in(folder.path, accelerator):
        folder.open(resume=resume, force=force)  # again: another run may have ended there while this one waited
        return _train(config, folder, accelerator, display, resume=resume and folder.can_resume, force=force)


def _train(
    config: Config, folder: RunFolder, accelerator: Accelerator, display: Display, *, resume: bool, force: bool
) -> TrainingResult:
    """resume: whether there is a run to continue."""
    facts = run_facts(config, accelerator.num_processes)
    _check_processes(accelerator, folder, config, facts)  # before anything is written: all processes agree
    display.device(str(accelerator.device), use_chosen_threads(), precision=accelerator.mixed_precision)
    learn_others = kind_of(config.head).scores_labels_apart(config.head)
    data = read_data(config.data, seed=config.training.seed, learn_others=learn_others)
    display.data(data)
    with accelerator.main_process_first():  # the others find its parses in the cache
        data = with_heads(data, config.syntax, display)
    if resume:
        check_record(folder, config, facts)
    torch.manual_seed(config.training.seed)
    model, notes = first_model(config, data)
    display.notes(notes)
    predicted = predicted_model(model, data.labels)
    windower = Windower(config, model.reader, model.max_subwords)
    examples = _examples(data, windower, config, display)
    check_agreement(accelerator, {"the sentences, as the encoder reads them": examples_fingerprint(examples)})
    if accelerator.is_main_process and not resume:
        if force:
            folder.remove_run()  # only now: whatever stopped the new run before has left the earlier one
        write_record(folder, config, facts)
    loop = Loop(model, predicted, examples, data.dev, folder, accelerator, display, context=windower.context)
    loop.begin(resume=resume)
    on_gpu = accelerator.device.type != "cpu"  # then there are cores to spare
    with graphs_ahead(folder.last, now=on_gpu and accelerator.is_main_process) as graphs:
        progress = loop.run()
        assert progress.best is not None  # there is at least one epoch
        if not progress.found_any:
            display.found_nothing(model.config.training)
        return _finish(folder, data, progress.best["epoch"], graphs, accelerator, display)


def _check_processes(accelerator: Accelerator, folder: RunFolder, config: Config, facts: dict[str, Any]) -> None:
    """Processes that differ would wait for each other forever, or mix different models."""
    own = {
        "device": accelerator.device.type,
        "precision": accelerator.mixed_precision,
        "the state to resume": folder.state_hash,
    }
    check_agreement(accelerator, facts_of_all(config, facts) | own)
    check_shared(accelerator, folder.path)


def first_model(config: Config, data: TrainingData) -> tuple[Model, Sequence[str]]:
    """The model before the first step, on a pretrained encoder or from a model, and notes on what it starts from."""
    if config.training.start_from is not None:
        return started_model(config, config.training.start_from, data.learned)
    encoding = ENCODER_KINDS.get(config.encoder.kind).load(config.encoder, data.words)
    network = build_network(config, data.learned, encoding.encoder)
    return Model(network, encoding.reader, config, data.learned), encoding.notes


def _examples(data: TrainingData, windower: Windower, config: Config, display: Display) -> list[Example]:
    """The training windows; entities left out are reported, and it is an error if all are."""
    account = Learnable(config.head, data.labels, config.data.whole_words)
    examples = make_examples(data.train, windower, account)
    display.notes(account.lines())
    if not account.learnable:
        raise DisconerError(
            f"None of {account.entities:,} training entities can be learned",
            where=Where(config.data.train),
            got="; ".join(account.lines()),
            fix="`disconer check` shows them. Try other settings of data.tokenizer, data.splitter or head.",
        )
    return examples


def _write_graphs(graphs: StoredGraphs | NoGraphs, folder: RunFolder) -> list[str]:
    """Save graphs so that a run's models work without torch; the models differ only in weights, which are elsewhere."""
    for place in (folder.best, folder.last):
        write_graphs(place, graphs)
    return [f"runs only in torch: {graphs.reason}"] if isinstance(graphs, NoGraphs) else []


def _finish(
    folder: RunFolder,
    data: TrainingData,
    best_epoch: int,
    graphs: GraphsAhead,
    accelerator: Accelerator,
    display: Display,
) -> TrainingResult:
    """Calibrate the scores of the best model on dev, and measure it as users will load it."""
    accelerator.wait_for_everyone()
    model = replace(load_model(folder.best), scale=UNSCALED)  # a resumed run may already have done this
    display.finishing(best_epoch)
    if accelerator.is_main_process:
        display.notes(_write_graphs(graphs.of(model), folder))
    scale = scale_on(Recognizer(model, device=accelerator.device, parser=NONE), data.dev, accelerator)
    best = Recognizer(replace(model, scale=scale), device=accelerator.device, parser=NONE)
    measured = {"test": data.test, "dev": data.dev}
    kept = {name: measure(best, gold, accelerator) for name, gold in measured.items() if gold is not None}
    if accelerator.is_main_process:
        record_measures(folder.best, scale, {name: one.evaluation.to_dict() for name, one in kept.items()})
        keep_measures(folder, kept, str(accelerator.device))
    test = kept["test"].evaluation if "test" in kept else None
    result = TrainingResult(folder.best, best_epoch, kept["dev"].evaluation, test)
    display.result(result)
    return result


def keep_measures(folder: RunFolder, splits: Mapping[str, Measured], device: str) -> None:
    """Write measurements in the order of `splits`; the metrics come last, so if they exist, everything does."""
    speed = {name: {"sentences": one.sentences, "seconds": one.seconds} for name, one in splits.items()}
    _write(folder.path / SPEED, {"device": device} | speed)
    for name, one in splits.items():
        replace_file(folder.path / LISTS.format(split=name), dump_lists(map(listed_document, one.gold, one.predicted)))
    for name, one in splits.items():
        _write(folder.path / f"{name}.json", one.evaluation.to_dict())


def _write(path: Path, values: object) -> None:
    replace_file(path, json.dumps(values, indent=2).encode())
