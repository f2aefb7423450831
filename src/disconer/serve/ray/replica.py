"""A replica: a process of Ray's that holds the models, and answers as the plain service does."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from fastapi import FastAPI

from disconer.core.version import __version__
from disconer.serve.app import create_app
from disconer.serve.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What makes one replica unlike another.

    models: where each is, by name; the first is for requests that name none.
    identities: of their files, by name; so that another model at the same place is another one.
    """

    models: dict[str, str]
    identities: dict[str, str]
    limits: Limits
    token: str | None = None
    device: str | None = None

    @property
    def digest(self) -> str:
        """The same for the same settings, as long as the program is the same."""
        described = json.dumps([list(self.models), asdict(self), __version__], sort_keys=True)
        return blake2b(described.encode(), digest_size=16).hexdigest()


class Replica:
    """What Ray makes a process of."""

    def __init__(self, settings: Settings) -> None:
        from disconer.predict.recognizer import Recognizer  # only here: it brings torch

        recognizers = {
            name: Recognizer.from_pretrained(where, device=settings.device) for name, where in settings.models.items()
        }
        self._service_app = create_app(recognizers, limits=settings.limits, token=settings.token)

    def __serve_build_asgi_app__(self) -> FastAPI:
        """Asked for by Ray."""
        return self._service_app

    def check_health(self) -> None:
        """Asked for by Ray every few seconds: a replica for which this raises is replaced."""
        self._service_app.state.service.check_ready()


def inspect_models(models: dict[str, str]) -> dict[str, Any]:
    """Load models where replicas will, and tell who they are, or what a person could put right about them."""
    from disconer.core.errors import DisconerError
    from disconer.predict.local.manifest import model_identity
    from disconer.predict.local.messages import error_to_dict
    from disconer.predict.recognizer import Recognizer
    from disconer.store.names import find_model

    try:
        identities = {}
        for name, where in models.items():
            Recognizer.from_pretrained(where, device="cpu")
            identities[name] = model_identity(find_model(where))
    except DisconerError as error:
        return {"error": error_to_dict(error)}
    return {"identities": identities}
