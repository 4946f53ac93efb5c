"""How does a REST catalog load, make and change tables? It writes the metadata itself; we send what is to change."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

from pyiceberg.catalog import Catalog as PyIcebergCatalog
from pyiceberg.catalog.rest import Endpoints, RestCatalog

from lakewright.errors import CorruptTable, InvalidRequest, LakewrightError, RetriesExhausted, Unsupported
from lakewright.formats.iceberg.encode import is_in_effect
from lakewright.formats.iceberg.metastore import open_catalog, split_name
from lakewright.formats.iceberg.records.metadata import Document, Metadata
from lakewright.formats.iceberg.rest_session import Answered, RestSession, Silent, credentials_url, takes_commits
from lakewright.model.changes import Committed, PublishOutcome, Taken, Unknown
from lakewright.model.schema import nearest
from lakewright.protocols import Clock, Credentials, JsonObject, MetadataCommit, NewestMetadata, VendingStore

_CREATION = "lakewright.creation-id"
"""A property that tells the table that a request made from one that somebody else made under the same name."""
_NOT_FOUND = 404
_CONFLICTS = frozenset({409, 412})
_EXPIRES = ("s3.session-token-expires-at-ms", "gcs.oauth2.token-expires-at", "adls.sas-token-expires-at-ms")


def is_rest(catalog: PyIcebergCatalog) -> bool:
    return isinstance(catalog, RestCatalog)


@dataclass(frozen=True)
class RestTables:
    """The tables of one REST catalog."""

    session: RestSession
    store: VendingStore

    @classmethod
    def of(cls, catalog: PyIcebergCatalog, store: VendingStore, clock: Clock) -> "RestTables":
        assert isinstance(catalog, RestCatalog)
        return cls(RestSession(catalog, clock), store)

    @property
    def read_only_because(self) -> str | None:
        if takes_commits(self.session):
            return None
        return f"the server of catalog {self.session.name} says that it takes no commits"

    def tables(self) -> tuple[str, ...]:
        return tuple(sorted({name for namespace in self._namespaces(()) for name in self._tables_in(namespace)}))

    def load(self, name: str) -> NewestMetadata:
        namespace, table = split_name(name)
        url = self.session.table_url(Endpoints.load_table, namespace, table)
        answer = self.session.read(url)
        if answer.status == _NOT_FOUND:
            raise self._no_table(name)
        body: Any = self.session.done(answer, f"load table {name}")
        if not isinstance(body.get("metadata"), dict):
            raise CorruptTable(f"catalog {self.session.name} answered for table {name} without metadata: {answer.said}")
        location = body.get("metadata-location") or f"{url}#{_digest(body['metadata'])}"
        return NewestMetadata(location, body["metadata"], self.store(credentials_in(body), self._source(name)))

    def location_for(self, name: str) -> None:
        """The server decides."""
        split_name(name)

    def swap(self, name: str, commit: MetadataCommit) -> PublishOutcome:
        """The server makes the next metadata, if what is required of the last still holds.

        After a refusal we look. An answer that is lost on its way makes proxies and clients send a request again, and then
        a conflict may be one with ourselves; and what is wrong with a request may be that its base is no longer the newest.
        """
        if commit.base is None:
            return self._create(name, commit)
        namespace, table = split_name(name)
        body = {
            "identifier": {"namespace": namespace, "name": table},
            "requirements": commit.requirements,
            "updates": commit.updates,
        }
        reply = self.session.send("POST", self.session.table_url(Endpoints.update_table, namespace, table), body)
        if isinstance(reply, Silent):
            return Unknown(reply.reason)
        return Committed() if reply.is_done else self._refused(name, commit, reply)

    def includes(self, commit: MetadataCommit, newest: NewestMetadata) -> bool:
        metadata = Metadata(newest.location, newest.document)
        if commit.base is None:
            return metadata.properties.get(_CREATION) == commit.unique
        return is_in_effect(metadata, _documents(commit.updates))

    def abandon(self, commit: MetadataCommit) -> None:
        """Metadata files are the server's."""

    def clean_up(self, commit: MetadataCommit) -> None:
        """Metadata files are the server's."""

    def drop(self, name: str) -> None:
        """The catalog forgets the table; its files stay. Without an answer, it is gone if it cannot be found any more."""
        namespace, table = split_name(name)
        url = self.session.table_url(Endpoints.drop_table, namespace, table)
        reply = self.session.send("DELETE", url, params={"purgeRequested": "false"})
        if isinstance(reply, Silent):
            found = self.session.read(url)
            if found.status != _NOT_FOUND:
                raise RetriesExhausted(
                    f"catalog {self.session.name} did not answer when table {name} was dropped, and still has it: "
                    f"{reply.reason}"
                )
        elif reply.status == _NOT_FOUND:
            raise self._no_table(name)
        else:
            self.session.done(reply, f"drop table {name}")

    def _create(self, name: str, commit: MetadataCommit) -> PublishOutcome:
        namespace, table = split_name(name)
        url = self.session.namespace_url(Endpoints.create_table, namespace)
        body = _creation_request(table, commit)
        reply = self.session.send("POST", url, body)
        if isinstance(reply, Answered) and reply.status == _NOT_FOUND:
            self._ensure_namespace(namespace)
            reply = self.session.send("POST", url, body)
        if isinstance(reply, Silent):
            return Unknown(reply.reason)
        if not reply.is_done:
            return self._refused(name, commit, reply)
        self._check_version(name, body, reply.body)
        return Committed()

    def _check_version(self, name: str, request: Document, answer: Any) -> None:
        """The version is asked for by a property, which a server may pass over."""
        wanted, made = request["properties"]["format-version"], (answer.get("metadata") or {}).get("format-version")
        if made is not None and str(made) != wanted:
            self.drop(name)
            raise Unsupported(
                f"catalog {self.session.name} makes tables of format version {made} where {wanted} is asked for; table "
                f"{name} was not made"
            )

    def _refused(self, name: str, commit: MetadataCommit, answer: Answered) -> PublishOutcome:
        try:
            newest = self.load(name)
            is_included = self.includes(commit, newest)
        except LakewrightError as error:
            if isinstance(error, InvalidRequest) and answer.status not in _CONFLICTS:
                raise self.session.refusal(answer, f"commit to table {name}") from None
            return Unknown(f"{answer.said}; then {error}")
        if is_included:
            return Committed()
        if answer.status in _CONFLICTS or (commit.base is not None and newest.location != commit.base):
            return Taken()
        raise self.session.refusal(answer, f"commit to table {name}")

    def _ensure_namespace(self, namespace: tuple[str, ...]) -> None:
        for depth in range(1, len(namespace) + 1):
            part = namespace[:depth]
            if self.session.read(self.session.namespace_url(Endpoints.load_namespace_metadata, part)).is_done:
                continue
            body = {"namespace": part, "properties": {}}
            reply = self.session.send("POST", self.session.catalog.url(Endpoints.create_namespace), body)
            if isinstance(reply, Answered) and reply.status not in _CONFLICTS:
                self.session.done(reply, f"make namespace {'.'.join(part)}")

    def _no_table(self, name: str) -> InvalidRequest:
        """With the names beside it; or, when there are none, with those of namespaces."""
        namespace, _ = split_name(name)
        known: Sequence[str] = ()
        with suppress(LakewrightError):
            known = self._tables_in(namespace) or [".".join(each) for each in self._namespaces_in(())]
        return InvalidRequest(f"there is no table {name} in catalog {self.session.name}; {nearest(name, known)}")

    def _tables_in(self, namespace: tuple[str, ...]) -> list[str]:
        url = self.session.namespace_url(Endpoints.list_tables, namespace)
        found: Iterable[Any] = self.session.listed(url, "identifiers")
        return [".".join((*each["namespace"], each["name"])) for each in found]

    def _namespaces(self, parent: tuple[str, ...]) -> list[tuple[str, ...]]:
        found = [namespace for namespace in self._namespaces_in(parent) if namespace != parent]
        return found + [inner for namespace in found for inner in self._namespaces(namespace)]

    def _namespaces_in(self, parent: tuple[str, ...]) -> list[tuple[str, ...]]:
        params = {"parent": self.session.joined(parent)} if parent else {}
        url = self.session.catalog.url(Endpoints.list_namespaces)
        found: Iterable[Any] = self.session.listed(url, "namespaces", params)
        return [tuple(namespace) for namespace in found]

    def _source(self, name: str) -> "TableCredentials":
        properties = json.dumps(self.session.catalog.properties, default=str, sort_keys=True)
        return TableCredentials(self.session.name, properties, name, self.session.clock)


@dataclass(frozen=True)
class TableCredentials:
    """Asks the catalog for a table's credentials, from wherever it is called: it takes along how the catalog is opened."""

    catalog: str
    properties: str = field(repr=False)
    table: str
    clock: Clock = field(compare=False)

    def __call__(self) -> tuple[Credentials, ...]:
        session = RestSession(_opened(self.catalog, self.properties), self.clock)
        namespace, table = split_name(self.table)
        url = credentials_url(session, namespace, table) or session.table_url(Endpoints.load_table, namespace, table)
        return credentials_in(session.done(session.read(url), f"hand out credentials for table {self.table}"))


def credentials_in(body: JsonObject) -> tuple[Credentials, ...]:
    """What the server's answer has for everything, then what it has for prefixes."""
    answer: Any = body
    found = [("", answer.get("config") or {})]
    found += [(each["prefix"], each.get("config") or {}) for each in answer.get("storage-credentials") or ()]
    return tuple(_credentials(prefix, config) for prefix, config in found if config)


def _credentials(prefix: str, config: Document) -> Credentials:
    settings = {str(name): str(value) for name, value in config.items()}
    ends = [int(value) for name, value in settings.items() if name.startswith(_EXPIRES) and value.isdigit()]
    return Credentials(prefix, tuple(sorted(settings.items())), min(ends, default=None))


@lru_cache(maxsize=16)
def _opened(name: str, properties: str) -> RestCatalog:
    catalog = open_catalog(name, json.loads(properties))
    assert isinstance(catalog, RestCatalog)
    return catalog


def _creation_request(table: str, commit: MetadataCommit) -> Document:
    """The updates that make a table, as the one request that every server takes."""
    made = {update["action"]: update for update in _documents(commit.updates)}
    request: Document = {
        "name": table,
        "schema": made["add-schema"]["schema"],
        "partition-spec": made["add-spec"]["spec"],
        "write-order": made["add-sort-order"]["sort-order"],
        "stage-create": False,
        "properties": {
            **made["set-properties"]["updates"],
            "format-version": str(made["upgrade-format-version"]["format-version"]),
            _CREATION: commit.unique,
        },
    }
    return request | {"location": made["set-location"]["location"]} if "set-location" in made else request


def _documents(updates: Iterable[JsonObject]) -> list[Document]:
    return [dict(update) for update in updates]


def _digest(document: Document) -> str:
    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:32]
