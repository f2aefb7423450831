"""Train one network on several corpora at once, each with its own labels, for others to start from.

    python recipes/joint.py work/joint chia genia craft phee psytar --epochs 5

The corpora are configurations: presets or files. Everything is shared but the parameters that depend on labels. A
model folder is written for each corpus, with the shared network and its own labels, to be named in
`training.start_from`. Settings of encoder and head must be the same in all of them; `--set` changes them in all.
There is no adversarial step.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from disconer.config import load_config
from disconer.core.background import made_ahead
from disconer.evaluate import evaluate
from disconer.nn.arrays import word_arrays
from disconer.nn.devices import WordBatch, size_multiple
from disconer.nn.interfaces import Transferable
from disconer.nn.network import AnyNetwork
from disconer.nn.windows import Windower
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, save_model
from disconer.training.data import TrainingData, read_data
from disconer.training.examples import Batch, Example, Learnable, Plan, make_examples
from disconer.training.optimizer import build_optimizer, build_schedule
from disconer.training.training_run import first_model


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus, and the network as it looks from there."""

    name: str
    model: Model
    data: TrainingData
    examples: Sequence[Example]
    targets: Sequence[Any]
    plan: Plan

    def inputs(self, batch: Batch, device: torch.device) -> tuple[WordBatch, Any]:
        passages = [[self.examples[number].window for number in passage] for passage in batch.passages]
        arrays = word_arrays(passages, self.model.reader, multiple=size_multiple(device))
        targets = self.model.network.head.batch_targets([self.targets[number] for number in batch.examples])
        return WordBatch.from_arrays(arrays, device), targets.to(device)


def read_corpus(name: str, settings: Sequence[str]) -> Corpus:
    config = load_config(name, settings)
    data = read_data(config.data)
    model, _ = first_model(config, data)
    windower = Windower(config, model.reader, model.max_subwords)
    examples = make_examples(data.train, windower, Learnable(config.head))
    targets = [model.network.head.window_targets(example.window, example.entities) for example in examples]
    plan = Plan(examples, config.training, context=windower.context)
    return Corpus(Path(name).stem, model, data, examples, targets, plan)


def share(first: AnyNetwork, other: AnyNetwork) -> None:
    """Give one network the parameters of another, but for those that depend on labels."""
    assert isinstance(other.head, Transferable), "the parameters of this head do not say what they stand for"
    other.words = first.words
    own = other.head.axis_names()
    for name, parameter in first.head.named_parameters():
        if name not in own:
            path, _, leaf = name.rpartition(".")
            setattr(other.head.get_submodule(path), leaf, parameter)


class Joint(nn.Module):
    """The networks of all corpora, as one for the optimizer: shared parameters count once."""

    def __init__(self, networks: Sequence[AnyNetwork]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def encoder_parameters(self) -> list[nn.Parameter]:
        first: Any = self.networks[0]
        return list(first.encoder_parameters())

    def other_parameters(self) -> list[nn.Parameter]:
        encoder = {id(parameter) for parameter in self.encoder_parameters()}
        return [parameter for parameter in self.parameters() if id(parameter) not in encoder]


Item = tuple[Corpus, Batch]


def train(corpora: Sequence[Corpus], device: torch.device) -> Iterator[float]:
    """Train for all epochs; yields the mean loss per step after each."""
    joint = Joint([corpus.model.network for corpus in corpora]).to(device).train()
    settings = corpora[0].model.config.training
    optimizer = build_optimizer(joint, settings)  # type: ignore[arg-type]
    n_steps = sum(corpus.plan.count_steps() for corpus in corpora)
    schedule = build_schedule(optimizer, settings, n_steps)
    for epoch in range(1, settings.epochs + 1):
        items = [(corpus, batch) for corpus in corpora for step in corpus.plan.steps(epoch) for batch in step]
        random.Random(settings.seed * 1_000 + epoch).shuffle(items)
        total = torch.zeros((), device=device)
        inputs = made_ahead(lambda item: item[0].inputs(item[1], device), items)
        for (corpus, batch), given in zip(items, inputs, strict=True):
            torch.manual_seed(batch.seed)
            total += learn(corpus.model.network, given, batch.weight, device)
            torch.nn.utils.clip_grad_norm_(joint.parameters(), settings.clip)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
        yield total.item() / len(items)


def learn(network: AnyNetwork, inputs: tuple[WordBatch, Any], weight: float, device: torch.device) -> Tensor:
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
        loss: Tensor = network(*inputs) * weight
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.detach()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("corpora", nargs="+", metavar="CONFIG")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    given = parser.parse_args()
    common = ["training.steps_at_least=0", "training.batch_tokens=6144", "training.encoder_rate=1.5e-4"]
    settings = [*common, f"training.epochs={given.epochs}", *given.settings]
    corpora = [read_corpus(name, settings) for name in given.corpora]
    for corpus in corpora[1:]:
        share(corpora[0].model.network, corpus.model.network)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    started = time.perf_counter()
    for epoch, loss in enumerate(train(corpora, device), 1):
        print(f"epoch {epoch}  loss {loss:.3f}  {time.perf_counter() - started:.0f} s", flush=True)
    for corpus in corpora:
        save_model(corpus.model, given.out / corpus.name)
        found = evaluate(corpus.data.dev, Recognizer(corpus.model, device=device).annotate(corpus.data.dev))
        print(f"{corpus.name}: dev F1 {found.overall.f1:.2%}, discontinuous {found.discontinuous.f1:.2%}")


if __name__ == "__main__":
    main()
