"""A REST catalog to test against: a server of its own over a folder or a bucket, which fails as it is told."""

import json
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, quote, unquote, urlsplit

from tests.catalogs.rest_metadata import Json, Refused, check, created, updated

Name = tuple[str, ...]
NO_HEADERS: Mapping[str, str] = {}
_SEPARATOR = "\x1f"


class Fault(Enum):
    """What becomes of one request that changes something."""

    LOST_ANSWER = "it is done, and the connection breaks"
    LATE_ANSWER = "it is done, and the answer comes too late"
    ERROR_AFTER = "it is done, and a gateway answers 504"
    ERROR_BEFORE = "it is not done, and the answer is 503"
    BROKEN_BEFORE = "it is not done, and the connection breaks"
    SENT_TWICE = "a proxy sends it twice, and the second answer arrives"
    CONFLICT = "409, though nobody else was there"
    FORBIDDEN = "403"
    TOO_MANY = "429"
    NOT_DONE = "501"
    REDIRECT = "302 to itself, which makes clients ask instead of tell"


@dataclass
class Folder:
    """Objects as files."""

    def read(self, location: str) -> bytes:
        return Path(location.removeprefix("file://")).read_bytes()

    def write(self, location: str, content: bytes) -> None:
        path = Path(location.removeprefix("file://"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@dataclass
class RestServer:
    """Serves from a thread of this process while it is entered."""

    warehouse: str
    files: Any = field(default_factory=Folder)
    config: Json = field(default_factory=dict)
    """Overrides that every client is told."""
    token: str | None = None
    """What requests have to show."""
    vend: Callable[[str], Json] | None = None
    """What an answer about a table has beside its metadata: `config`, `storage-credentials`."""
    tells_location: bool = True
    endpoints: list[str] | None = None
    faults: list[Fault] = field(default_factory=list)
    reads_that_fail: int = 0
    reads_are_forbidden: bool = False
    """What fails is answered as a server answers whom it does not let in."""
    is_silent_after_a_fault: bool = False
    """Nothing is answered any more once a fault has happened."""
    requests: list[tuple[str, str, Json | None]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    late_seconds: float = 0.5
    newest_version: int = 3
    namespaces: dict[Name, Json] = field(default_factory=dict)
    tables: dict[Name, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        server = self

        class Handler(_Handler):
            rest = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def properties(self, **more: str) -> dict[str, str]:
        return {"type": "rest", "uri": self.uri, **more}

    def metadata(self, name: str) -> Json:
        return self._read(tuple(name.split(".")))

    def commits(self) -> int:
        return sum(method == "POST" and "/tables/" in path for method, path, _ in self.requests)

    def answer(self, method: str, path: str, query: dict[str, str], body: Json | None) -> tuple[int, Json | None]:
        parts = [unquote(part) for part in path.removeprefix("/v1/").split("/")]
        if prefix := self.config.get("prefix"):
            if parts[:1] == [prefix]:
                parts = parts[1:]
            elif parts[0] not in ("config", "oauth"):
                raise Refused(404, "NoSuchPrefixException", f"there is no {path}")
        match method, parts:
            case "GET", ["config"]:
                endpoints = {} if self.endpoints is None else {"endpoints": self.endpoints}
                return 200, {"defaults": {}, "overrides": self.config, **endpoints}
            case "GET", ["namespaces"]:
                parent = tuple(query["parent"].split(_SEPARATOR)) if "parent" in query else ()
                return 200, {"namespaces": self._below(parent)}
            case "POST", ["namespaces"]:
                assert body is not None
                return self._make_namespace(tuple(body["namespace"]), body.get("properties") or {})
            case (("GET" | "HEAD"), ["namespaces", name]):
                return 200, {"namespace": self._namespace(name), "properties": self.namespaces[self._namespace(name)]}
            case "DELETE", ["namespaces", name]:
                del self.namespaces[self._namespace(name)]
                return 204, None
            case "GET", ["namespaces", name, "tables"]:
                return self._page(self._namespace(name), query)
            case "POST", ["namespaces", name, "tables"]:
                assert body is not None
                return 200, self._create(self._namespace(name), body)
            case "GET", ["namespaces", name, "tables", table]:
                return 200, self._loaded(self._table(name, table))
            case "HEAD", ["namespaces", name, "tables", table]:
                self._table(name, table)
                return 204, None
            case "POST", ["namespaces", name, "tables", table]:
                assert body is not None
                return 200, self._commit((*name.split(_SEPARATOR), table), body)
            case "DELETE", ["namespaces", name, "tables", table]:
                del self.tables[self._table(name, table)]
                return 204, None
            case "GET", ["namespaces", name, "tables", table, "credentials"]:
                answer = self._loaded(self._table(name, table))
                return 200, {"storage-credentials": answer.get("storage-credentials") or []}
            case "POST", ["namespaces", _, "tables", _, "metrics"]:
                return 204, None
            case "POST", ["transactions", "commit"]:
                assert body is not None
                for change in body["table-changes"]:
                    self._commit((*change["identifier"]["namespace"], change["identifier"]["name"]), change)
                return 204, None
            case _:
                raise Refused(404, "NoSuchEndpointException", f"there is no {method} {path}")

    def _namespace(self, name: str) -> Name:
        namespace = tuple(name.split(_SEPARATOR))
        if namespace not in self.namespaces:
            raise Refused(404, "NoSuchNamespaceException", f"Namespace does not exist: {'.'.join(namespace)}")
        return namespace

    def _table(self, namespace: str, table: str) -> Name:
        name = (*namespace.split(_SEPARATOR), table)
        if name not in self.tables:
            raise Refused(404, "NoSuchTableException", f"Table does not exist: {'.'.join(name)}")
        return name

    def _below(self, parent: Name) -> list[Name]:
        depth = len(parent) + 1
        return sorted({name[:depth] for name in self.namespaces if name[: depth - 1] == parent and len(name) >= depth})

    def _make_namespace(self, name: Name, properties: Json) -> tuple[int, Json]:
        if name in self.namespaces:
            raise Refused(409, "AlreadyExistsException", f"Namespace already exists: {'.'.join(name)}")
        if len(name) > 1 and name[:-1] not in self.namespaces:
            raise Refused(404, "NoSuchNamespaceException", f"Namespace does not exist: {'.'.join(name[:-1])}")
        self.namespaces[name] = properties
        return 200, {"namespace": name, "properties": properties}

    def _page(self, namespace: Name, query: dict[str, str]) -> tuple[int, Json]:
        """Two on a page: clients have to turn pages."""
        names = sorted(name for name in self.tables if name[:-1] == namespace)
        first = int(query.get("pageToken") or 0)
        page = {"identifiers": [{"namespace": namespace, "name": name[-1]} for name in names[first : first + 2]]}
        return 200, page | ({"next-page-token": str(first + 2)} if len(names) > first + 2 else {})

    def _create(self, namespace: Name, request: Json) -> Json:
        name = (*namespace, request["name"])
        if name in self.tables:
            raise Refused(409, "AlreadyExistsException", f"Table already exists: {'.'.join(name)}")
        place = "/".join(quote(part, safe="") for part in name)
        location = request.get("location") or f"{self.warehouse}/{place}-{uuid.uuid4().hex[:8]}"
        version = int((request.get("properties") or {}).get("format-version", 2))
        if version > self.newest_version:
            request["properties"]["format-version"] = str(self.newest_version)
        metadata = created(request, location, str(uuid.uuid4()), _now_ms())
        if request.get("stage-create"):
            return {"metadata": metadata} | self._vended(metadata)
        self._write(name, metadata, None)
        return self._loaded(name)

    def _commit(self, name: Name, request: Json) -> Json:
        old = self._read(name) if name in self.tables else None
        check(request["requirements"], old)
        base = old or _staged(request["updates"], f"{self.warehouse}/{'/'.join(name)}")
        self._write(name, updated(base, request["updates"], _now_ms()), old)
        return self._loaded(name)

    def _loaded(self, name: Name) -> Json:
        metadata = self._read(name)
        told = {"metadata-location": self.tables[name]} if self.tells_location else {}
        return {**told, "metadata": metadata} | self._vended(metadata)

    def _vended(self, metadata: Json) -> Json:
        return {} if self.vend is None else self.vend(metadata["location"])

    def _read(self, name: Name) -> Json:
        document: Json = json.loads(self.files.read(self.tables[name]))
        return document

    def _write(self, name: Name, metadata: Json, old: Json | None) -> None:
        number = 0
        if old is not None:
            before = self.tables[name]
            number = int(before.rpartition("/")[2].partition("-")[0]) + 1
            metadata["metadata-log"].append({"metadata-file": before, "timestamp-ms": old["last-updated-ms"]})
        location = f"{metadata['location']}/metadata/{number:05d}-{uuid.uuid4()}.metadata.json"
        self.files.write(location, json.dumps(metadata).encode())
        self.tables[name] = location


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    rest: RestServer

    def log_message(self, format: str, *args: object) -> None:
        """Tests look at `requests`."""

    def do_GET(self) -> None:
        rest = self.rest
        if rest.reads_that_fail and not self.path.startswith("/v1/config"):
            rest.reads_that_fail -= 1
            if rest.reads_are_forbidden:
                self._reply(403, _error(403, "ForbiddenException", "not any more"))
                return
            self._reply(503, _error(503, "ServiceUnavailableException", "try later"))
            return
        self._reply(*self._answer())

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        rest = self.rest
        changes = "/tables" in self.path or self.path.endswith("/transactions/commit")
        fault = rest.faults.pop(0) if rest.faults and changes and not self.path.endswith("/metrics") else None
        if fault is not None and rest.is_silent_after_a_fault:
            rest.reads_that_fail = 1_000
        match fault:
            case Fault.BROKEN_BEFORE:
                self._break()
            case Fault.ERROR_BEFORE:
                self._refuse(503, "ServiceUnavailableException")
            case Fault.CONFLICT:
                self._refuse(409, "CommitFailedException")
            case Fault.FORBIDDEN:
                self._refuse(403, "ForbiddenException")
            case Fault.TOO_MANY:
                self._refuse(429, "TooManyRequestsException")
            case Fault.NOT_DONE:
                self._refuse(501, "UnsupportedOperationException")
            case Fault.REDIRECT:
                self._body()
                self._reply(302, None, {"Location": self.path})
            case None:
                self._reply(*self._answer())
            case _:
                self._fail_after(fault)

    def do_DELETE(self) -> None:
        self.do_POST()

    def _fail_after(self, fault: Fault) -> None:
        body = self._body()
        reply = self._answer(body)
        match fault:
            case Fault.LOST_ANSWER:
                self._break()
            case Fault.LATE_ANSWER:
                time.sleep(self.rest.late_seconds)
                self._break()
            case Fault.ERROR_AFTER:
                self._reply(504, None)
            case _:
                self._reply(*(self._answer(body) if fault is Fault.SENT_TWICE else reply))

    def _answer(self, body: Json | None = None) -> tuple[int, Json | None]:
        rest = self.rest
        split = urlsplit(self.path)
        body = body or self._body()
        rest.requests.append((self.command, unquote(split.path), body))
        rest.headers.append(dict(self.headers))
        try:
            if split.path == "/v1/oauth/tokens":
                return 200, {"access_token": rest.token, "token_type": "bearer", "expires_in": 3600}
            if rest.token is not None and self.headers.get("Authorization") != f"Bearer {rest.token}":
                raise Refused(401, "NotAuthorizedException", "who are you?")
            query = {key: values[0] for key, values in parse_qs(split.query).items()}
            with rest.lock:
                return rest.answer(self.command, split.path, query, body)
        except Refused as refused:
            return refused.status, _error(refused.status, refused.kind, refused.message)
        except Exception as error:  # noqa: BLE001 -- a server answers, whatever happens
            return 500, _error(500, "InternalServerError", repr(error))

    def _body(self) -> Json | None:
        length = int(self.headers.get("Content-Length") or 0)
        content = self.rfile.read(length) if length else b""
        return json.loads(content) if content.startswith(b"{") else None

    def _refuse(self, status: int, kind: str) -> None:
        self._body()
        self._reply(status, _error(status, kind, "as the test wants it"))

    def _reply(self, status: int, body: Json | None, headers: Mapping[str, str] = NO_HEADERS) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for header, value in headers.items():
            self.send_header(header, value)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(content)

    def _break(self) -> None:
        self.close_connection = True
        self.connection.close()


def _staged(updates: list[Json], place: str) -> Json:
    """What the updates of a staged creation start from."""
    made = {update["action"]: update for update in updates}
    location = made["set-location"]["location"] if "set-location" in made else place
    version = made.get("upgrade-format-version", {"format-version": 2})["format-version"]
    empty = {"schema": {"type": "struct", "fields": []}, "properties": {"format-version": str(version)}}
    table_uuid = made["assign-uuid"]["uuid"] if "assign-uuid" in made else str(uuid.uuid4())
    return created(empty, location, table_uuid, _now_ms()) | {"schemas": [], "partition-specs": [], "sort-orders": []}


def _error(status: int, kind: str, message: str) -> Json:
    return {"error": {"message": message, "type": kind, "code": status}}


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
