"""A bucket that opens to the keys it knows: enough of S3 to see whose credentials a request carries."""

import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import unquote, urlsplit

_KEY = re.compile(r"Credential=([^/]+)/\d+/([^/]+)/")
_RANGE = re.compile(r"bytes=(\d+)-(\d+)")
REFUSED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"


@dataclass
class Bucket:
    """Serves from a thread of this process while it is entered. Signatures are not checked, keys and tokens are."""

    name: str = "shop"
    objects: dict[str, bytes] = field(default_factory=dict)
    opens: dict[str, str] = field(default_factory=dict)
    """For each key with its token (`key/token`), the prefix below which it opens objects."""
    refused: list[str] = field(default_factory=list)
    """Whom requests came from that were not let in."""
    regions: set[str] = field(default_factory=set)
    """For which requests were signed."""

    def __enter__(self) -> Self:
        bucket = self

        class Handler(_Handler):
            served = bucket

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def read(self, location: str) -> bytes:
        return self.objects[location]

    def write(self, location: str, content: bytes) -> None:
        self.objects[location] = content

    def lets_in(self, who: str, location: str) -> bool:
        prefix = self.opens.get(who)
        if prefix is not None and location.startswith(prefix):
            return True
        self.refused.append(who)
        return False


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    served: Bucket

    def log_message(self, format: str, *args: object) -> None:
        """Tests look at `objects` and `refused`."""

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self._is_let_in():
            self.served.objects[self._location()] = content
            self._reply(200, b"")

    def do_GET(self) -> None:
        if not self._is_let_in():
            return
        content = self.served.objects.get(self._location())
        if content is None:
            self._reply(404, b"")
        elif wanted := _RANGE.fullmatch(self.headers.get("Range") or ""):
            first, last = int(wanted[1]), min(int(wanted[2]), len(content) - 1)
            self._reply(206, content[first : last + 1], f"bytes {first}-{last}/{len(content)}")
        else:
            self._reply(200, content)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        if self._is_let_in():
            self.served.objects.pop(self._location(), None)
            self._reply(204, b"")

    def _location(self) -> str:
        return f"s3:/{unquote(urlsplit(self.path).path)}"

    def _is_let_in(self) -> bool:
        key = _KEY.search(self.headers.get("Authorization") or "")
        self.served.regions |= {key[2]} if key else set()
        who = f"{key[1] if key else ''}/{self.headers.get('x-amz-security-token') or ''}"
        is_let_in = self.served.lets_in(who, self._location())
        if not is_let_in:
            self._reply(403, REFUSED)
        return is_let_in

    def _reply(self, status: int, content: bytes, content_range: str | None = None) -> None:
        self.send_response(status)
        self.send_header("ETag", '"of-no-meaning"')
        self.send_header("Last-Modified", "Thu, 19 Nov 2026 00:00:00 GMT")
        if content_range is not None:
            self.send_header("Content-Range", content_range)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
