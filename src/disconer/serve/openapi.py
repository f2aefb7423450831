"""The OpenAPI document: FastAPI's own, plus this service's models, labels and limits."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from disconer.serve.access import is_open
from disconer.serve.schemas import ProblemAnswer
from disconer.serve.service import Service

ABOUT = """Named entities of every shape: regular, overlapped and discontinuous.

Offsets count Unicode code points; a fragment is `[start, end)`. Errors are JSON: `error` is a code for
programs, `message` a text for people. 429 and 503 come with `Retry-After`."""

_REFUSALS = {
    400: "The body cannot be read.",
    408: "The body did not arrive in time.",
    413: "The body, a text, or the number of texts is too large.",
    422: "The request is not valid.",
    429: "Too many texts are waiting; try again after `Retry-After` seconds.",
    500: "The model failed on a text.",
    503: "The service is shutting down, timed out, or lost a process; try again after `Retry-After` seconds.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemAnswer, "description": description} for status, description in _REFUSALS.items()
}


def describe(app: FastAPI, service: Service, *, needs_token: bool) -> None:
    """Attach the OpenAPI document to the application."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=ABOUT, routes=app.routes)
            _name_choices(document, service)
            if needs_token:
                _ask_for_token(document)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _name_choices(document: dict[str, Any], service: Service) -> None:
    """Add the available models and labels, and the limits of a request."""
    schemas = document["components"]["schemas"]
    predict, render = (schemas[name]["properties"] for name in ("PredictRequest", "RenderRequest"))
    (labels_of,) = document["paths"]["/v1/labels"]["get"]["parameters"]
    for model in (predict["model"], render["model"], labels_of["schema"]):
        model["anyOf"][0]["enum"] = list(service.models)
    predict["labels"]["anyOf"][0]["items"]["enum"] = service.labels
    predict["texts"]["maxItems"] = service.limits.texts
    for text in (predict["texts"]["items"], render["text"]):
        text["maxLength"] = service.limits.text_characters


def _ask_for_token(document: dict[str, Any]) -> None:
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    refusal = {
        "description": "The token is missing or wrong.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ProblemAnswer"}}},
    }
    for path, operations in document["paths"].items():
        if not is_open(path):
            for operation in operations.values():
                operation["security"] = [{"token": []}]
                operation["responses"]["401"] = refusal
