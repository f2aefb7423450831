"""Requests to a CoreNLP server: patient for a while, and clear about what went wrong."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from urllib.parse import urlencode

from disconer.core.errors import excerpt

TIMEOUT = 60.0  # seconds for an answer; the first one has to wait until the server has loaded its models
PAUSES = (0.5, 2.0)  # seconds before each new try
BUSY = (429, 502, 503, 504)  # answers after which a new try may have better luck
MAX_ANSWER = 256 * 2**20  # bytes


class Absent(Exception):
    """Nobody answers at the address, or somebody else than CoreNLP."""


class Trouble(Exception):
    """The server is there and could not answer this request.

    slow: it did not answer in time.
    """

    def __init__(self, reason: str, *, slow: bool = False) -> None:
        self.slow = slow
        super().__init__(reason)


class Client:
    """Posts text to one address, without any proxy: what is sent are patients' notes."""

    def __init__(
        self,
        url: str,
        properties: Mapping[str, str],
        *,
        timeout: float = TIMEOUT,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self._url, self._timeout, self._pauses = url, timeout, pauses
        said = json.dumps({**properties, "timeout": str(int(1000 * timeout))})
        self._address = f"{url.rstrip('/')}/?{urlencode({'properties': said})}"

    def post(self, text: str) -> bytes:
        """The answer to a text. Raises `Absent` or `Trouble`, after new tries where these may help."""
        for pause in (*self._pauses, None):
            try:
                return self._post(text)
            except urllib.error.HTTPError as error:
                failure, again = self._refused(error), error.code in BUSY
            except (OSError, http.client.HTTPException) as error:
                slow = _is_timeout(error)
                failure, again = self._slow() if slow else self._unreachable(error), not slow
            if pause is None or not again:
                raise failure
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _post(self, text: str) -> bytes:
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        request = urllib.request.Request(self._address, text.encode("utf-8"), headers, method="POST")
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=self._timeout) as response:
            content: bytes = response.read(MAX_ANSWER)
        return content

    def _slow(self) -> Trouble:
        return Trouble(f"the CoreNLP server at {self._url} took longer than {self._timeout:g} s", slow=True)

    def _unreachable(self, error: Exception) -> Absent:
        reason = getattr(error, "reason", None) or error
        return Absent(
            f"no CoreNLP server answers at {self._url} ({reason}); to start one: java -mx4g -cp '*' "
            "edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port 9000"
        )

    def _refused(self, error: urllib.error.HTTPError) -> Absent | Trouble:
        said = excerpt(error.read(500).decode("utf-8", "replace"), 120)
        reason = f"the server at {self._url} answered {error.code} {error.reason}: {said}"
        return Trouble(reason) if error.code >= 500 else Absent(f"{reason}; is that CoreNLP?")


def _is_timeout(error: BaseException) -> bool:
    return isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError)
