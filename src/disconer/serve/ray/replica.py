"""A replica: a Ray process that holds the models and runs the plain service."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any

from fastapi import FastAPI

from disconer.core.version import __version__
from disconer.serve.app import create_app
from disconer.serve.settings import AS_USUAL, Limits, Loading, load_recognizers


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a replica.

    models: paths by name; the first is the default.
    identities: of their files, by name; so that another model at the same path counts as a change.
    """

    models: dict[str, str]
    identities: dict[str, str]
    limits: Limits
    token: str | None = None
    loading: Loading = AS_USUAL

    @property
    def digest(self) -> str:
        """A version that is the same for the same settings and code."""
        described = json.dumps([list(self.models), asdict(self), __version__], sort_keys=True)
        return blake2b(described.encode(), digest_size=16).hexdigest()


class Replica:
    """The class that Ray deploys."""

    def __init__(self, settings: Settings) -> None:
        recognizers = load_recognizers(settings.models, settings.loading)
        self._service_app = create_app(recognizers, limits=settings.limits, token=settings.token)

    def __serve_build_asgi_app__(self) -> FastAPI:
        """Called by Ray."""
        return self._service_app

    def check_health(self) -> None:
        """Called by Ray every few seconds: a replica for which this raises is replaced."""
        self._service_app.state.service.check_ready()


def inspect_models(models: dict[str, str], loading: Loading = AS_USUAL) -> dict[str, Any]:
    """Load models where replicas will, on the CPU, and return their identities, or an error that the user can fix."""
    from disconer.core.errors import DisconerError
    from disconer.predict.local.manifest import model_identity
    from disconer.predict.local.messages import error_to_dict
    from disconer.store.names import find_model

    try:
        load_recognizers(models, replace(loading, device="cpu"))
        return {"identities": {name: model_identity(find_model(where)) for name, where in models.items()}}
    except DisconerError as error:
        return {"error": error_to_dict(error)}
