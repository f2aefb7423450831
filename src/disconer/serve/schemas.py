"""Request and response schemas, and the conversion of documents to responses."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from disconer.core.corpus import with_labels, with_scores_from
from disconer.core.errors import BadInput
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Kind
from disconer.formats.brat.files import annotation_text
from disconer.serve.problems import not_valid


def _whole_characters(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PydanticCustomError(
            "half_surrogate_pair",
            "contains a lone surrogate at offset {offset}, which is not a character; correct the text at its source",
            {"offset": error.start},
        ) from None
    return text


def _whole_number(value: object) -> object:
    """JSON has one number type: 4.0 is an integer, like 4."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, AfterValidator(_whole_characters)]
Offset = Annotated[int, BeforeValidator(_whole_number), Field(ge=0)]
Range = Annotated[list[Offset], Field(min_length=2, max_length=2)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Asked(BaseModel):
    """Unknown fields are typos: rejected rather than ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


class PredictRequest(Asked):
    """Texts, and which of their entities to return."""

    texts: list[Text] = Field(
        min_length=1, examples=[["Pain and stiffness in knees and hands."]], description="One or many texts."
    )
    model: Text | None = Field(None, description="Name of a model, see `/v1/models`; default: the first.")
    threshold: Probability | None = Field(
        None,
        description="Minimum score of the returned entities; a low one (down to about 0.1) also returns entities that "
        "the model would not report by itself. Default: those that it reports.",
    )
    labels: list[Text] | None = Field(
        None, min_length=1, description="Return only these labels, see `/v1/labels`; default: all."
    )
    format: Literal["json", "brat"] = Field("json", description="Format of the documents in the response.")


class EntityGiven(Asked):
    """A label and one or more fragments [start, end) of the text, in code points. What follows from these, as in an
    answer of this service, may be there: start, end and text must fit, the kind is computed again.
    """

    label: Text = Field(min_length=1)
    fragments: list[Range] = Field(min_length=1, examples=[[[0, 4], [22, 27]]])
    id: Text | None = None
    score: Probability | None = None
    start: int | None = None
    end: int | None = None
    text: Text | None = None
    kind: Text | None = None


class RenderRequest(Asked):
    """A text with entities, predicted or edited, and the output format."""

    text: Text = Field(examples=["Pain and stiffness in knees and hands."])
    entities: list[EntityGiven]
    format: Literal["html", "brat"] = Field(
        "html", description="An HTML element, for pages that load /assets/drawing.css and drawing.js; or brat's .ann."
    )
    model: Text | None = Field(None, description="The model whose labels set the colours; default: the first.")


class EntityAnswer(BaseModel):
    """A label and one or more fragments [start, end) of the text, in code points."""

    id: str | None
    label: str
    start: int = Field(description="Of the first fragment.")
    end: int = Field(description="Of the last fragment.")
    text: str = Field(description="The texts of the fragments, joined by a space.")
    fragments: list[Range]
    kind: Kind
    score: float | None = Field(ge=0, le=1)


class DocumentAnswer(BaseModel):
    """A text and its entities."""

    id: str
    text: str
    entities: list[EntityAnswer]


class BratAnswer(BaseModel):
    """A text and its entities as the lines of brat's .ann file."""

    id: str
    text: str
    ann: str = Field(examples=["T1\tADR 0 4;22 27\tPain knees\n"])


class RenderAnswer(BaseModel):
    """A document as HTML or as brat's .ann, and its entities with their texts and kinds."""

    content: str
    entities: list[EntityAnswer]


class PredictAnswer(BaseModel):
    """A document for each text, in the order of the texts."""

    model: str
    documents: list[DocumentAnswer] | list[BratAnswer]


class ModelAnswer(BaseModel):
    """A model of this service."""

    name: str
    labels: list[str]
    default: bool = Field(description="Whether this is the default model.")
    runtime: str = Field(description="What runs it.", examples=["onnx", "torch"])


class ModelsAnswer(BaseModel):
    """All models, and the limits of a request."""

    models: list[ModelAnswer]
    max_texts: int = Field(description="Maximum texts per request.")
    max_characters: int = Field(description="Maximum characters per text.")


class LabelsAnswer(BaseModel):
    """The labels of a model."""

    model: str
    labels: list[str]


class HealthAnswer(BaseModel):
    """The health of the service."""

    status: str


class ProblemDetail(BaseModel):
    """A validation error of a request."""

    where: str = Field(examples=["texts[3]"])
    message: str


class ProblemAnswer(BaseModel):
    """An error."""

    error: str = Field(description="Error code, for programs.", examples=["busy"])
    message: str = Field(description="Error message, for people.")
    details: list[ProblemDetail] | None = None


def wanted(document: Document, threshold: float | None, labels: Collection[str] | None) -> Document:
    """The document with the requested entities; kinds are computed among these."""
    kept = document if threshold is None else with_scores_from(document, threshold)
    return kept if labels is None else with_labels(kept, labels)


def brat_answer(document: Document) -> dict[str, Any]:
    return {"id": document.id, "text": document.text, "ann": brat(document)}


def brat(document: Document) -> str:
    """The content of the .ann file."""
    return annotation_text(document, Ledger())


def given_document(asked: RenderRequest) -> Document:
    """The document in a request."""
    entities = [one.model_dump(exclude_none=True) for one in asked.entities]
    try:
        return Document.from_dict({"id": "text-1", "text": asked.text, "entities": entities})
    except ValueError as error:  # offsets
        raise not_valid(f"This is not a document: {error}.") from None
    except BadInput as error:
        raise not_valid(f"This is not a document: {error}") from None
