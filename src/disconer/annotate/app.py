"""The page over HTTP: its routes and assets, for itself alone.

Only this page may use its server: otherwise, other pages in the same browser could send requests to it, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from importlib.resources import files
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote, urlsplit

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from disconer.annotate import schemas
from disconer.annotate.project import Order, Project
from disconer.annotate.workspace import Conflict, Opened, Workspace
from disconer.core.errors import DisconerError
from disconer.core.version import __version__
from disconer.serve.app import PAGE as SERVICE_PAGE
from disconer.serve.app import assets_router, drawing_files
from disconer.serve.middleware import BodyLimit, Metrics, TokenCheck, Watch
from disconer.serve.problems import Problem, handle_faults, needs_json, refuse
from disconer.serve.settings import Limits

LIMITS = Limits(body_bytes=20_000_000)
PAGE = files("disconer.annotate") / "page"
SHARED = ("api.js", "icon.svg", "page.css")  # of the page of the service

T = TypeVar("T")


def create_app(project: Project, *, token: str | None = None, local: bool = True) -> FastAPI:
    """The page as an ASGI application.

    token: bearer token that requests must send, if any. local: only browsers of this machine may come.
    """
    app = FastAPI(title="disconer annotate", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.project = project
    app.include_router(_routes(project))
    app.include_router(assets_router(_assets(), {"index.html": "/"}))
    handle_faults(app)
    # The middleware added last sees a request first.
    app.add_middleware(BodyLimit, max_bytes=LIMITS.body_bytes, seconds=LIMITS.body_seconds)
    if token is not None:
        app.add_middleware(TokenCheck, token=token)
    app.add_middleware(SameOrigin, local=local)
    app.add_middleware(Watch, metrics=Metrics(), paths=(), is_draining=lambda: False)
    return app


def _assets() -> dict[str, bytes]:
    contents = {name: (SERVICE_PAGE / name).read_bytes() for name in SHARED}
    contents |= {name: text.encode("utf-8") for name, text in drawing_files().items()}
    return contents | {entry.name: entry.read_bytes() for entry in PAGE.iterdir() if entry.is_file()}


def _attempt(work: Callable[[], T]) -> T:
    """The result of some work; errors that users can fix become problems."""
    try:
        return work()
    except DisconerError as error:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "refused", str(error.without_skipping())) from error
    except OSError as error:
        message = f"The files cannot be read or written: {error.strerror or error}."
        raise Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "files", message) from error


def _annotator(request: Request, x_annotator: Annotated[str, Header()] = "") -> str:
    """The annotator named in a request, percent-encoded; by default the first."""
    project: Project = request.app.state.project
    return unquote(x_annotator) or project.annotators[0]


By = Annotated[str, Depends(_annotator)]


def _workspace(request: Request, name: By) -> Workspace:
    project: Project = request.app.state.project
    return _attempt(lambda: project.workspace(name))


Own = Annotated[Workspace, Depends(_workspace)]


def _routes(project: Project) -> APIRouter:
    router = APIRouter(prefix="/v1")
    with_json = [Depends(needs_json)]

    def state(own: Workspace, id: str, change: Callable[[], Opened]) -> Response:
        try:
            opened = _attempt(change)
        except Conflict:
            opened = own.open(id)
            answer = schemas.as_document(opened, done=own.is_done(id))
            problem = "This document was changed on disk, or by someone else, since you opened it."
            return JSONResponse({"error": "conflict", "message": problem, "document": answer}, HTTPStatus.CONFLICT)
        project.add_labels([entity.label for entity in opened.stored.document.entities])
        return JSONResponse(schemas.as_state(opened, done=own.is_done(id)))

    @router.get("/project")
    def show_project() -> dict[str, Any]:
        model = project.suggester
        return {
            "name": project.path.resolve().name,
            "annotators": project.annotators,
            "space_in_labels": project.workspace(project.annotators[0]).documents.label("a b")[1:-1],
            "labels": list(map(schemas.as_label, project.labels)),
            "model": None if model is None else {"name": model.name, "labels": model.labels},
        }

    @router.get("/documents")
    def list_documents(own: Own, name: By, order: Annotated[Order, Query()] = "given") -> Response:
        found, progress = _attempt(lambda: project.summaries(name, order))
        return JSONResponse({"documents": list(map(schemas.as_summary, found)), "progress": progress})

    @router.get("/document")
    def show_document(own: Own, id: str) -> Response:
        opened = _attempt(lambda: own.open(id))
        project.add_labels([entity.label for entity in opened.stored.document.entities])
        return JSONResponse(schemas.as_document(opened, done=own.is_done(id)))

    @router.get("/version")
    def show_version(own: Own, id: str) -> dict[str, str]:
        return {"version": _attempt(lambda: own.open(id)).stored.version}

    @router.get("/suggestions")
    def show_suggestions(own: Own, id: str) -> Response:
        opened = _attempt(lambda: own.open(id))
        found = _attempt(lambda: project.suggestions(opened))
        return JSONResponse({"suggestions": list(map(schemas.as_suggestion, found))})

    @router.post("/change", dependencies=with_json)
    def change(own: Own, name: By, asked: schemas.ChangeRequest) -> Response:
        def save() -> Opened:
            made = asked.change(own.open(asked.id).stored.document.text, own.documents)
            return own.change(asked.id, asked.version, made, by=name, kind=asked.kind)

        return state(own, asked.id, save)

    @router.post("/undo", dependencies=with_json)
    def undo(own: Own, name: By, asked: schemas.StepRequest) -> Response:
        return state(own, asked.id, lambda: own.undo(asked.id, asked.version, by=name))

    @router.post("/redo", dependencies=with_json)
    def redo(own: Own, name: By, asked: schemas.StepRequest) -> Response:
        return state(own, asked.id, lambda: own.redo(asked.id, asked.version, by=name))

    @router.post("/done", dependencies=with_json)
    def mark(own: Own, name: By, asked: schemas.DoneRequest) -> Response:
        _attempt(lambda: own.mark(asked.id, done=asked.done, by=name))
        return state(own, asked.id, lambda: own.open(asked.id))

    @router.get("/training")
    def show_training() -> Response:
        return JSONResponse(asdict(project.trainer.status()))

    @router.post("/training", dependencies=with_json)
    def train(name: By) -> Response:
        _attempt(lambda: project.train(name))
        return JSONResponse(asdict(project.trainer.status()))

    @router.post("/training/stop", dependencies=with_json)
    def stop_training() -> Response:
        project.trainer.stop()
        return JSONResponse(asdict(project.trainer.status()))

    return router


LOCAL = ("localhost", "127.0.0.1", "::1")


class SameOrigin:
    """Refuses requests from pages of other sites, including sites whose name resolves to this machine.

    local: whether the server is for browsers of this machine only, which know it by one of its usual names.
    """

    def __init__(self, app: ASGIApp, *, local: bool) -> None:
        self.app, self.local = app, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_own(dict(scope["headers"])):
            await self.app(scope, receive, send)
            return
        problem = Problem(HTTPStatus.FORBIDDEN, "forbidden", "This server only answers its own page.")
        await refuse(problem, scope, receive, send)

    def _is_own(self, headers: dict[bytes, bytes]) -> bool:
        host = headers.get(b"host", b"").decode("latin-1")
        if self.local and urlsplit(f"//{host}").hostname not in LOCAL:
            return False
        origin = headers.get(b"origin")
        return origin is None or urlsplit(origin.decode("latin-1")).netloc == host
