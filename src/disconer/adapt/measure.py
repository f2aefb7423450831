"""Held-out perplexity, and how many sequences fit into memory at once."""

from __future__ import annotations

import math

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn

from disconer.adapt.batches import Batch, Feed, Masker
from disconer.adapt.cache import Sequences
from disconer.adapt.settings import AdaptSettings
from disconer.core.errors import DisconerError

MEASURED = 1024  # sequences at most, spread over the held-out text
SEED = 0  # of the masks, the same at every measurement
WORST = 700.0  # nats; exp of more overflows


@torch.no_grad()
def perplexity(
    network: nn.Module, sequences: Sequences, masker: Masker, accelerator: Accelerator, *, at_once: int
) -> float:
    """Perplexity of masked subwords."""
    was_training = network.training
    network.eval()
    chosen = np.unique(np.linspace(0, len(sequences) - 1, min(MEASURED, len(sequences))).astype(np.int64))
    parts = [chosen[first : first + at_once] for first in range(0, len(chosen), at_once)]
    feed = Feed(sequences, accelerator.device)
    bare = accelerator.unwrap_model(network)  # processes need not synchronise here
    total, n_guesses = (torch.zeros((), device=accelerator.device) for _ in range(2))
    for number in range(accelerator.process_index, len(parts), accelerator.num_processes):
        seed, fed = feed(Batch(parts[number], SEED + number))
        torch.manual_seed(seed)
        loss, count = bare(masker(*fed))
        total += loss
        n_guesses += count
    total, n_guesses = accelerator.reduce(total), accelerator.reduce(n_guesses)
    network.train(was_training)
    return math.exp(min(WORST, float(total) / max(1.0, float(n_guesses))))


ON_CPU = 32  # sequences: more are not faster there


def sequences_at_once(
    settings: AdaptSettings, network: nn.Module, masker: Masker, accelerator: Accelerator, *, mark: int
) -> int:
    """The requested number, or what fits into memory, such that steps divide evenly.

    mark: any subword, for the trial.
    """
    n_processes = accelerator.num_processes
    if settings.batch % n_processes:
        raise DisconerError(
            f"A step of {settings.batch} sequences does not divide among {n_processes} processes",
            fix=f"Choose a batch that is a multiple of {n_processes}.",
        )
    share = settings.batch // n_processes
    if settings.at_once is not None or accelerator.device.type != "cuda":
        limit = min(share, settings.at_once or ON_CPU)
        return max(size for size in range(1, limit + 1) if share % size == 0)
    sizes = sizes_to_try(share)
    fitting = next((size for size in sizes if _fits(size, settings.length, network, masker, accelerator, mark)), 1)
    return int(accelerator.gather(torch.tensor([fitting], device=accelerator.device)).min())


def sizes_to_try(share: int) -> list[int]:
    """Divisors of a process's part of a step, from all of it to one, each at most half of the one before."""
    sizes = [share]
    for size in range(share // 2, 0, -1):
        if share % size == 0 and size <= sizes[-1] / 2:
            sizes.append(size)
    return sizes


def _fits(size: int, length: int, network: nn.Module, masker: Masker, accelerator: Accelerator, mark: int) -> bool:
    """Whether a forward and backward pass of a batch fits into memory."""
    try:
        with accelerator.no_sync(network):
            ids = torch.full((size, length), mark, device=accelerator.device)
            loss, _ = network(masker(ids))
            accelerator.backward(loss)
    except torch.OutOfMemoryError:
        return False
    finally:
        network.zero_grad()
        torch.cuda.empty_cache()
    return True
