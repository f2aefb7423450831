"""Protocols of annotation tools for models: brat's taggers, and INCEpTION's external recommenders."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from disconer.core.errors import BadInput
from disconer.core.types import Document, Entity
from disconer.formats.brat.lines import brat_label, parse_text_bound, text_bound_line
from disconer.formats.code_units import CodeUnits
from disconer.formats.uima.xmi import Asked, SentCas
from disconer.serve.problems import Problem, needs_json, not_valid
from disconer.serve.schemas import ProblemAnswer, Text, wanted
from disconer.serve.service import Service


class Tagged(BaseModel):
    """An annotation as brat adds it; a discontinuous one has several offsets and texts."""

    type: str
    offsets: list[tuple[int, int]]
    texts: list[str]


def tagged(document: Document) -> dict[str, Any]:
    """The entities of a document in brat's tagger protocol. A mention that crosses a line break has a part per line."""
    found = {}
    for number, entity in enumerate(document.entities, 1):
        label = brat_label(entity.label)
        bound = parse_text_bound(text_bound_line(f"T{number}", label, entity.fragments, document.text))
        pairs = bound.pairs if bound else entity.fragments
        texts = [document.text[start:end] for start, end in pairs]
        found[f"T{number}"] = {"type": label, "offsets": [list(pair) for pair in pairs], "texts": texts}
    return found


class Reach(BaseModel):
    """The part of the document that predictions are wanted for, in UTF-16 units; the end may be 0 or absent: all."""

    begin: int = 0
    end: int = 0


class RecommenderMetadata(BaseModel):
    """What INCEpTION wants predicted; its other fields are ignored."""

    layer: Text
    feature: Text
    range: Reach | None = None


class RecommenderDocument(BaseModel):
    """A document of INCEpTION, as CAS XMI."""

    xmi: Text


class RecommenderRequest(BaseModel):
    """A request of INCEpTION."""

    metadata: RecommenderMetadata
    document: RecommenderDocument
    type_system: Text = Field(
        "", alias="typeSystem", description="The types of the CAS; says if there are explanations."
    )


class RecommenderAnswer(BaseModel):
    """The same CAS with predictions."""

    document: str


def within(entities: Iterable[Entity], text: str, reach: Reach | None) -> list[Entity]:
    """The entities that share text with the requested part."""
    if reach is None or reach.end <= reach.begin:
        return list(entities)
    units = CodeUnits(text)
    start, end = units.character(reach.begin), units.character(reach.end)
    return [one for one in entities if any(first < end and start < last for first, last in one.fragments)]


_PLAIN_TEXT = {"requestBody": {"content": {"text/plain": {"schema": {"type": "string"}}}, "required": True}}
_NOT_TRAINED: dict[int | str, dict[str, Any]] = {
    501: {"model": ProblemAnswer, "description": "Models are not trained by INCEpTION."}
}
Model = Annotated[str | None, Query(description="Name of a model; default: the first.")]
Labels = Annotated[str | None, Query(description="Only these labels, separated by commas; default: all.")]
Threshold = Annotated[
    float | None, Query(ge=0, le=1, description="Minimum score; a low one finds more. Default: the model decides.")
]


def tools_router(service: Service, problems: dict[int | str, dict[str, Any]]) -> APIRouter:
    """problems: the responses to requests that are refused."""
    router = APIRouter(tags=["annotation tools"])
    _add_brat(router, service, problems)
    _add_inception(router, service, problems)
    return router


def _add_brat(router: APIRouter, service: Service, problems: dict[int | str, dict[str, Any]]) -> None:
    answers = dict[str, Tagged]

    async def tag(
        text: str, request: Request, model: str | None, labels: str | None, threshold: float | None
    ) -> Response:
        chosen = service.model_named(model)
        kept = None if labels is None else [label.strip() for label in labels.split(",")]
        service.check_labels(kept, chosen)
        service.check_sizes([text])
        (document,) = await service.annotate(chosen, [text], request.receive(), near=threshold is not None)
        return JSONResponse(tagged(wanted(document, threshold, kept)))

    @router.post("/brat", response_model=answers, responses=problems, openapi_extra=_PLAIN_TEXT)
    async def brat(
        request: Request, model: Model = None, labels: Labels = None, threshold: Threshold = None
    ) -> Response:
        """Find entities for brat: the body is the text, the answer its annotations (tools.conf, [annotators])."""
        try:
            text = (await request.body()).decode("utf-8")
        except UnicodeDecodeError as error:
            raise not_valid(f"The text is not UTF-8: byte {error.start}.") from None
        return await tag(text, request, model, labels, threshold)

    @router.get("/brat/get", response_model=answers, responses=problems)
    async def brat_get(
        request: Request,
        text: Annotated[Text, Query(description="The text, as old versions of brat send it.")],
        model: Model = None,
        labels: Labels = None,
        threshold: Threshold = None,
    ) -> Response:
        """The same for old versions of brat."""
        await request.body()  # there is none, but until it is read the request is not complete
        return await tag(text, request, model, labels, threshold)


def _add_inception(router: APIRouter, service: Service, problems: dict[int | str, dict[str, Any]]) -> None:
    asking: dict[str, Any] = {
        "response_model": RecommenderAnswer,
        "responses": problems,
        "dependencies": [Depends(needs_json)],
    }

    async def recommend(asked: RecommenderRequest, request: Request, model: str | None) -> Response:
        chosen = service.model_named(model)
        feature = asked.metadata.feature
        try:
            wanted = Asked(asked.metadata.layer, feature, f"{feature}_score_explanation" in asked.type_system)
            cas = await run_in_threadpool(SentCas, asked.document.xmi)
        except BadInput as error:
            raise not_valid(str(error)) from None
        service.check_sizes([cas.text])
        (document,) = await service.annotate(chosen, [cas.text], request.receive())
        entities = within(document.entities, cas.text, asked.metadata.range)
        return JSONResponse({"document": await run_in_threadpool(cas.with_predictions, entities, wanted)})

    @router.post("/inception/predict", **asking)
    async def inception(asked: RecommenderRequest, request: Request) -> Response:
        """Suggest entities to INCEpTION, as an external recommender at /inception."""
        return await recommend(asked, request, None)

    @router.post("/inception/{model}/predict", **asking)
    async def inception_with(model: str, asked: RecommenderRequest, request: Request) -> Response:
        """The same with a model other than the first, as a recommender at /inception/MODEL."""
        return await recommend(asked, request, model)

    @router.post("/inception/train", status_code=501, responses=_NOT_TRAINED)
    async def train() -> Response:
        """Refused: models are trained with `disconer train`."""
        raise _not_trained()

    @router.post("/inception/{model}/train", status_code=501, responses=_NOT_TRAINED)
    async def train_with(model: str) -> Response:
        """Refused likewise."""
        raise _not_trained()


def _not_trained() -> Problem:
    return Problem(
        HTTPStatus.NOT_IMPLEMENTED,
        "not-trained",
        "INCEpTION cannot train this recommender: switch training off in its settings. Models are trained with "
        "`disconer train`.",
    )
