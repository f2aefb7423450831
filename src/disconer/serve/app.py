"""The service over HTTP: its routes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, PlainTextResponse

from disconer.core.types import Document
from disconer.core.version import __version__
from disconer.serve import schemas
from disconer.serve.access import TokenCheck
from disconer.serve.assets import assets_router, drawing
from disconer.serve.bodies import BodyLimit
from disconer.serve.limits import Limits
from disconer.serve.openapi import PROBLEMS, describe
from disconer.serve.problems import handle_faults
from disconer.serve.schemas import brat, brat_answer, given_document, wanted
from disconer.serve.service import Annotator, Service
from disconer.serve.watch import CONTENT_TYPE, Watch


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
    app.include_router(health_router(service))
    app.include_router(assets_router())
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

    @router.post("/predict", response_model=schemas.PredictAnswer, responses=PROBLEMS)
    async def predict(asked: schemas.PredictRequest, request: Request) -> Response:
        """Find entities in texts."""
        service.check_labels(asked.labels)
        service.check_sizes(asked.texts)
        model = service.model_named(asked.model)
        documents = await service.annotate(model, asked.texts, request.receive())
        kept = [wanted(document, asked.threshold, asked.labels) for document in documents]
        as_answer = brat_answer if asked.format == "brat" else Document.to_dict
        return JSONResponse({"model": model.name, "documents": [as_answer(document) for document in kept]})

    @router.post("/render", response_model=schemas.RenderAnswer, responses=PROBLEMS)
    async def render(asked: schemas.RenderRequest) -> Response:
        """Draw a text and its entities, or convert them to brat; no model is used."""
        service.check_sizes([asked.text])
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
                {"name": model.name, "labels": model.labels, "default": model is service.default}
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
