"""The service over HTTP: its routes, the web page with its assets, and the OpenAPI document."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, PlainTextResponse

from disconer.core.types import Document
from disconer.core.version import __version__
from disconer.render.html import document_html
from disconer.render.marks import plain_marks
from disconer.render.stylesheet import Palette, resource, stylesheet, themes
from disconer.serve import schemas
from disconer.serve.middleware import CONTENT_TYPE, OPEN_FOLDER, BodyLimit, TokenCheck, Watch, is_open
from disconer.serve.problems import handle_faults, needs_json
from disconer.serve.schemas import ProblemAnswer, brat, brat_answer, given_document, wanted
from disconer.serve.service import Annotator, Service
from disconer.serve.settings import Limits
from disconer.serve.tools import tools_router


def drawing(document: Document, labels: Iterable[str]) -> str:
    """An HTML element; it needs `drawing_files`. labels: in the order of their colours."""
    return document_html(document, plain_marks(document), Palette(labels))


def drawing_files() -> dict[str, str]:
    """The stylesheet and the script of drawings; the page also uses the stylesheet's colours."""
    return {"drawing.css": themes(":root") + stylesheet(), "drawing.js": resource("hover.js")}


PAGE = files("disconer.serve") / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
AT = {"index.html": "/", "docs.html": "/docs"}


def page_assets() -> dict[str, bytes]:
    contents = {entry.name: entry.read_bytes() for entry in PAGE.iterdir() if _suffix(entry.name) in TYPES}
    return contents | {name: text.encode("utf-8") for name, text in drawing_files().items()}


def assets_router(contents: Mapping[str, bytes], at: Mapping[str, str]) -> APIRouter:
    """Serves files by name. at: the paths of some of them; others are served under /assets."""
    router = APIRouter(include_in_schema=False)
    for name, content in contents.items():
        _add(router, at.get(name, f"{OPEN_FOLDER}{name}"), content, TYPES[_suffix(name)])
    return router


def _suffix(name: str) -> str:
    return name[name.rfind(".") :]


def _add(router: APIRouter, path: str, content: bytes, media_type: str) -> None:
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}  # revalidated each time, sent only if changed

    async def asset(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=media_type)

    router.get(path)(asset)


ABOUT = """Named entities of every shape: regular, overlapped and discontinuous.

Offsets count Unicode code points; a fragment is `[start, end)`. Errors are JSON: `error` is a code for
programs, `message` a text for people. 429 and 503 come with `Retry-After`."""

_REFUSALS = {
    400: "The body cannot be read.",
    408: "The body did not arrive in time.",
    413: "The body, a text, the number of texts, or the total length of entities is too large.",
    415: "The body is not JSON by its content type, or has none.",
    422: "The request is not valid.",
    429: "Too many texts are waiting; try again after `Retry-After` seconds.",
    500: "The model failed on a text.",
    507: "There is not enough memory for a text.",
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


def create_app(
    recognizers: Mapping[str, Annotator], *, limits: Limits | None = None, token: str | None = None
) -> FastAPI:
    """The service as an ASGI application.

    recognizers: by name; the first is the default.
    token: bearer token that requests must send, if any.
    """
    limits = limits or Limits()
    service = Service(recognizers, limits)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        await service.close()

    app = FastAPI(title="disconer", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.service = service
    app.include_router(api_router(service))
    app.include_router(tools_router(service, PROBLEMS))
    app.include_router(health_router(service))
    app.include_router(assets_router(page_assets(), AT))
    describe(app, service, needs_token=token is not None)
    handle_faults(app)
    # The middleware added last sees a request first.
    app.add_middleware(BodyLimit, max_bytes=limits.body_bytes, seconds=limits.body_seconds)
    if token is not None:
        app.add_middleware(TokenCheck, token=token)
    paths = set(app.openapi()["paths"])
    app.add_middleware(Watch, metrics=service.metrics, paths=paths, is_draining=lambda: service.draining)
    return app


def api_router(service: Service) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["entities"])
    with_json = [Depends(needs_json)]

    @router.post("/predict", response_model=schemas.PredictAnswer, responses=PROBLEMS, dependencies=with_json)
    async def predict(asked: schemas.PredictRequest, request: Request) -> Response:
        """Find entities in texts."""
        model = service.model_named(asked.model)
        service.check_labels(asked.labels, model)
        service.check_sizes(asked.texts)
        near = asked.threshold is not None
        documents = await service.annotate(model, asked.texts, request.receive(), near=near)
        kept = [wanted(document, asked.threshold, asked.labels) for document in documents]
        as_answer = brat_answer if asked.format == "brat" else Document.to_dict
        return JSONResponse({"model": model.name, "documents": [as_answer(document) for document in kept]})

    @router.post("/render", response_model=schemas.RenderAnswer, responses=PROBLEMS, dependencies=with_json)
    async def render(asked: schemas.RenderRequest) -> Response:
        """Draw a text and its entities, or convert them to brat; no model is used."""
        service.check_sizes([asked.text])
        service.check_drawn([entity.fragments for entity in asked.entities], asked.text)
        labels = service.model_named(asked.model).labels
        document = given_document(asked)
        if asked.format == "brat":
            content = brat(document)
        else:
            content = await run_in_threadpool(drawing, document, labels)
        return JSONResponse({"content": content, "entities": document.to_dict()["entities"]})

    @router.get("/models", response_model=schemas.ModelsAnswer)
    async def models() -> dict[str, Any]:
        """The models of this service, and the limits of a request."""
        return {
            "models": [
                {
                    "name": model.name,
                    "labels": model.labels,
                    "default": model is service.default,
                    "runtime": model.runtime,
                }
                for model in service.models.values()
            ],
            "max_texts": service.limits.texts,
            "max_characters": service.limits.text_characters,
        }

    @router.get("/labels", response_model=schemas.LabelsAnswer, responses={422: PROBLEMS[422]})
    async def labels(
        model: Annotated[str | None, Query(description="Name of a model; default: the first.")] = None,
    ) -> dict[str, Any]:
        """The labels of a model."""
        chosen = service.model_named(model)
        return {"model": chosen.name, "labels": chosen.labels}

    return router


def health_router(service: Service) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/healthz", response_model=schemas.HealthAnswer)
    async def healthz() -> dict[str, str]:
        """Liveness: whether the process is running."""
        return {"status": "ok"}

    @router.get("/readyz", response_model=schemas.HealthAnswer, responses={503: PROBLEMS[503]})
    async def readyz() -> dict[str, str]:
        """Readiness: whether the service accepts texts."""
        service.check_ready()
        return {"status": "ready"}

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Metrics for Prometheus."""
        return Response(service.metrics.exposition(), media_type=CONTENT_TYPE)

    return router
