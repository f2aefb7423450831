"""Neighbouring spans inform each other: convolutions over the grid of span starts and widths."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import gelu

REACH = 3  # cells of the grid that a convolution sees each way, itself included


class SpanGrid(nn.Module):
    """Adds to each span what the spans around it say, as in CNN-NER (Yan et al. 2023).

    A span that starts or ends a word earlier or later is a neighbour. The grid has few channels, since there are
    many more spans than words.
    """

    def __init__(self, *, size: int, channels: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.enter = nn.Linear(size, channels)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(channels, channels, REACH, padding=REACH // 2) for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(layers))
        self.leave = nn.Linear(channels, size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, spans: Tensor, exists: Tensor) -> Tensor:
        """Spans past the end of a sentence are as good as absent.

        spans:  Shape: (B, N, W, size).  exists:  Shape: (B, N, W)
        """
        there = exists.unsqueeze(-1)
        grid = gelu(self.enter(spans)) * there  # (B, N, W, channels)
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            around = convolution(grid.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
            grid = (grid + self.dropout(gelu(norm(around)))) * there
        informed: Tensor = spans + self.leave(grid)
        return informed
