"""Options of all commands that run a model."""

from __future__ import annotations

from typing import Annotated

import typer

from disconer.predict.settings import Precision, RuntimeName

PrecisionOption = Annotated[
    Precision,
    typer.Option(
        "--precision",
        help="int8: faster on CPUs with VNNI; bf16: on GPUs; auto: int8 if fast here and known to lose little F1.",
    ),
]
RuntimeOption = Annotated[
    RuntimeName | None, typer.Option("--runtime", help="onnx or torch; default: torch on a GPU, else ONNX Runtime.")
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        min=0,
        max=1,
        help="Minimum score of the model's entities. A low one, down to about 0.1, also gives what the model would not "
        "report by itself. Default: what it reports.",
    ),
]
