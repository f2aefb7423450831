"""A stand-in of the Hub's HTTP interface: it takes repositories and commits, and gives their files back."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SHA = "1" * 40


class Hub:
    """What was sent.

    repositories: by id, as they were created. files: by repository and path. requests: method, path, authorization.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, Any]] = {}
        self.files: dict[str, dict[str, bytes]] = {}
        self.messages: list[str] = []
        self.requests: list[tuple[str, str, str | None]] = []
        self.url = ""

    def answer(self, path: str, body: bytes) -> tuple[int, Any]:
        parts = path.split("?")[0].strip("/").split("/")
        if path == "/api/repos/create":
            asked = json.loads(body)
            id = "/".join(filter(None, (asked.get("organization"), asked["name"])))
            known = id in self.repositories
            self.repositories.setdefault(id, asked)
            return (409 if known else 200), {"url": f"{self.url}/{id}", "name": id, "id": id}
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}
        id = "/".join(parts[2:4])
        if parts[4:5] == ["preupload"]:
            files = [{"path": one["path"], "uploadMode": "regular"} for one in json.loads(body)["files"]]
            return 200, {"files": [one | {"shouldIgnore": False, "oid": None} for one in files]}
        if parts[4:5] == ["commit"]:
            return 200, self._commit(id, body)
        return 404, {"error": f"nothing at {path}"}

    def _commit(self, id: str, body: bytes) -> dict[str, Any]:
        for line in body.splitlines():
            item = json.loads(line)
            if item["key"] == "header":
                self.messages.append(item["value"]["summary"])
            else:
                value = item["value"]
                assert (item["key"], value["encoding"]) == ("file", "base64")
                self.files.setdefault(id, {})[value["path"]] = base64.b64decode(value["content"])
        return {"commitUrl": f"{self.url}/{id}/commit/{SHA}", "commitOid": SHA, "pullRequestUrl": None}


@contextmanager
def running_hub() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)) or self._chunks()
            hub.requests.append(("POST", self.path, self.headers.get("authorization")))
            status, answer = hub.answer(self.path, body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _chunks(self) -> bytes:
            parts = []
            while self.headers.get("transfer-encoding") == "chunked" and (size := int(self.rfile.readline(), 16)):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            return b"".join(parts)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
