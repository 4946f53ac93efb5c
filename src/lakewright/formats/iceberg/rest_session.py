"""How is a REST catalog asked, and what do its refusals and its silence mean?

pyiceberg's `RestCatalog` knows the configuration: the prefix, tokens, OAuth2, signatures, headers and certificates. What it
answers with passes through models that drop what they do not know, so the requests are ours, sent through its session. Of
its private names these are used: `_session`, `_refresh_token`, `_split_identifier_for_path`, `_encode_namespace_path`,
`_namespace_separator` and `_supported_endpoints`. Tests run each of them on the supported version.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyiceberg.catalog.rest import Capability, Endpoint, Endpoints, RestCatalog
from pyiceberg.exceptions import RESTError
from requests import RequestException, Response

from lakewright.errors import InvalidRequest, LakewrightError, RetriesExhausted, Unsupported
from lakewright.protocols import Clock, JsonObject

_ATTEMPTS_MAX = 3
_WAIT_SECONDS = 0.2
_PAGES_MAX = 100_000
_CONNECT_MS, _READ_MS = 10_000, 60_000
_CONNECT_PROPERTY, _READ_PROPERTY = "rest.client.connection-timeout-ms", "rest.client.socket-timeout-ms"
_TOKEN_EXPIRED = frozenset({401, 419})
_NOT_DONE_BY_DESIGN = frozenset({406, 501})
_TOO_MANY_REQUESTS = 429
_NOTHING: JsonObject = {}


@dataclass(frozen=True)
class Answered:
    """The catalog did what was asked, or says that it did not."""

    status: int
    body: JsonObject
    said: str
    """What a user should hear of a refusal."""

    @property
    def is_done(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Silent:
    """No answer came, or one that does not tell whether anything was done."""

    reason: str


Reply: TypeAlias = Answered | Silent


@dataclass(frozen=True)
class RestSession:
    """One catalog, and the ways to ask it."""

    catalog: RestCatalog
    clock: Clock

    @property
    def name(self) -> str:
        return str(self.catalog.name)

    def namespace_url(self, endpoint: str, namespace: tuple[str, ...]) -> str:
        return self.catalog.url(endpoint, namespace=self.catalog._encode_namespace_path(namespace))

    def table_url(self, endpoint: str, namespace: tuple[str, ...], table: str) -> str:
        return self.catalog.url(endpoint, **self.catalog._split_identifier_for_path((*namespace, table)))

    def joined(self, namespace: tuple[str, ...]) -> str:
        """A namespace as the value of a parameter, which is escaped on its way; in addresses each part is escaped before."""
        return str(self.catalog._namespace_separator).join(namespace)

    def supports(self, endpoint: Endpoint) -> bool:
        return endpoint in self.catalog._supported_endpoints

    def send(
        self, method: str, url: str, body: JsonObject | None = None, params: Mapping[str, str] | None = None
    ) -> Reply:
        """Ask once. A token that has expired is renewed, and the request, which was not looked at, sent again."""
        try:
            response = self._request(method, url, body, params)
            if response.status_code in _TOKEN_EXPIRED:
                self.catalog._refresh_token()
                response = self._request(method, url, body, params)
        except RequestException as error:
            return Silent(f"{type(error).__name__}: {error}")
        except RESTError as error:
            raise InvalidRequest(f"catalog {self.name} does not let us in: {error}") from error
        said = _said(response)
        if response.status_code >= 500 and response.status_code not in _NOT_DONE_BY_DESIGN:
            return Silent(said)
        return Answered(response.status_code, _body(response), said)

    def read(self, url: str, params: Mapping[str, str] | None = None) -> Answered:
        """Ask for something, again if need be: asking changes nothing."""
        for attempt in range(_ATTEMPTS_MAX):
            reply = self.send("GET", url, params=params)
            if isinstance(reply, Answered) and reply.status != _TOO_MANY_REQUESTS:
                return reply
            self.clock.sleep(_WAIT_SECONDS * 2**attempt)
        reason = reply.reason if isinstance(reply, Silent) else reply.said
        raise RetriesExhausted(f"catalog {self.name} did not answer {_ATTEMPTS_MAX} times, the last time with {reason}")

    def listed(self, url: str, key: str, params: Mapping[str, str] | None = None) -> Iterator[object]:
        """What a list has on all of its pages; nothing when there is nothing to list in."""
        page: dict[str, str] = {}
        for _ in range(_PAGES_MAX):
            answer = self.read(url, {**(params or {}), **page})
            if answer.status == 404:
                return
            body: Any = self.done(answer, f"list {key}")
            yield from body.get(key) or ()
            if not body.get("next-page-token"):
                return
            page = {"pageToken": str(body["next-page-token"])}

    def done(self, answer: Answered, what: str) -> JsonObject:
        """The body of an answer to something that was done, or the refusal as an error."""
        if answer.is_done:
            return answer.body
        raise self.refusal(answer, what)

    def refusal(self, answer: Answered, what: str) -> LakewrightError:
        message = f"catalog {self.name} refused to {what}: {answer.said}"
        if answer.status in _NOT_DONE_BY_DESIGN:
            return Unsupported(message)
        return RetriesExhausted(message) if answer.status == _TOO_MANY_REQUESTS else InvalidRequest(message)

    def _request(self, method: str, url: str, body: JsonObject | None, params: Mapping[str, str] | None) -> Response:
        """Only what asks follows a redirection: anything else would arrive as a question, whose answer means nothing."""
        return self.catalog._session.request(
            method,
            url,
            params=params,
            data=None if body is None else json.dumps(body).encode(),
            timeout=(self._seconds(_CONNECT_PROPERTY, _CONNECT_MS), self._seconds(_READ_PROPERTY, _READ_MS)),
            allow_redirects=method == "GET",
        )

    def _seconds(self, name: str, default_ms: int) -> float:
        value = self.catalog.properties.get(name, default_ms)
        try:
            return int(value) / 1000
        except ValueError as error:
            raise InvalidRequest(f"catalog property {name} is {value!r}; it has to be milliseconds") from error


def takes_commits(session: RestSession) -> bool:
    return session.supports(Capability.V1_UPDATE_TABLE)


def credentials_url(session: RestSession, namespace: tuple[str, ...], table: str) -> str | None:
    """Where to ask for credentials alone, if the server has such a place."""
    if not session.supports(Capability.V1_LOAD_CREDENTIALS):
        return None
    return session.table_url(Endpoints.load_credentials, namespace, table)


def _said(response: Response) -> str:
    error = _body(response).get("error")
    if isinstance(error, dict) and error.get("message"):
        return f"{response.status_code} {error.get('type') or response.reason}: {error['message']}"
    return f"{response.status_code} {response.reason}: {response.text[:500]}".rstrip(": ")


def _body(response: Response) -> JsonObject:
    """What is no JSON object says nothing."""
    try:
        body = json.loads(response.content)
    except ValueError:
        return _NOTHING
    return body if isinstance(body, dict) else _NOTHING
