"""Perplexity of text that was not learnt from."""

from __future__ import annotations

import math

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn

from disconer.adapt.feed import Feed
from disconer.adapt.masking import Masker
from disconer.adapt.plan import Batch
from disconer.adapt.sequences import Sequences

MEASURED = 1024  # sequences at most, spread over all that is held out
SEED = 0  # of the masks, the same at every measurement
WORST = 700.0  # nats; e to the power of more is no number


@torch.no_grad()
def perplexity(
    network: nn.Module, sequences: Sequences, masker: Masker, accelerator: Accelerator, *, at_once: int
) -> float:
    """How many pieces the model wavers between, on average, where one is masked."""
    was_training = network.training
    network.eval()
    chosen = np.unique(np.linspace(0, len(sequences) - 1, min(MEASURED, len(sequences))).astype(np.int64))
    parts = [chosen[first : first + at_once] for first in range(0, len(chosen), at_once)]
    feed = Feed(sequences, accelerator.device)
    bare = accelerator.unwrap_model(network)  # processes need not keep step here
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
