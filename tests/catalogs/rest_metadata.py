"""What does a REST catalog do with requirements and updates? Written from the specification; shares no code with lakewright."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

Json = dict[str, Any]


class Refused(Exception):
    """A request that is not carried out; `status` and `kind` as the specification has them."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind, self.message = status, kind, message


def conflict(message: str) -> Refused:
    return Refused(409, "CommitFailedException", message)


def bad(message: str) -> Refused:
    return Refused(400, "BadRequestException", message)


def created(request: Json, location: str, table_uuid: str, now_ms: int) -> Json:
    """The metadata of a new table, with ids of the server's choice."""
    properties = dict(request.get("properties") or {})
    version = int(properties.pop("format-version", 2))
    numbers: dict[int, int] = {}
    schema = {**_numbered(request["schema"], _counter(), numbers), "schema-id": 0}
    spec = _sourced((request.get("partition-spec") or {}).get("fields") or [], numbers)
    for index, field in enumerate(spec):
        field["field-id"] = 1000 + index
    order = _sourced((request.get("write-order") or {}).get("fields") or [], numbers)
    order_id = 1 if order else 0
    metadata: Json = {
        "format-version": version,
        "table-uuid": table_uuid,
        "location": location,
        "last-updated-ms": now_ms,
        "last-column-id": max(numbers.values(), default=0),
        "schemas": [schema],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": spec}],
        "default-spec-id": 0,
        "last-partition-id": max((field["field-id"] for field in spec), default=999),
        "sort-orders": [{"order-id": order_id, "fields": order}],
        "default-sort-order-id": order_id,
        "properties": properties,
        "snapshots": [],
        "refs": {},
        "snapshot-log": [],
        "metadata-log": [],
    }
    if version == 1:
        metadata |= {"schema": schema, "partition-spec": spec}
    if version > 1:
        metadata["last-sequence-number"] = 0
    if version > 2:
        metadata["next-row-id"] = 0
    return metadata


def check(requirements: Iterable[Json], metadata: Json | None) -> None:
    """A conflict unless all of them hold; None is a table that does not exist."""
    for each in requirements:
        kind = each["type"]
        if kind == "assert-create":
            if metadata is not None:
                raise conflict("Requirement failed: table already exists")
            continue
        if metadata is None:
            raise Refused(404, "NoSuchTableException", "Table does not exist")
        if kind == "assert-ref-snapshot-id":
            found = metadata.get("refs", {}).get(each["ref"], {}).get("snapshot-id")
            wanted = each.get("snapshot-id")
        else:
            key, recorded = _REQUIRED[kind]
            found, wanted = metadata.get(recorded), each[key]
        if found != wanted:
            raise conflict(f"Requirement failed: {kind} {each.get('ref', '')}: expected {wanted}, found {found}")


_REQUIRED = {
    "assert-table-uuid": ("uuid", "table-uuid"),
    "assert-last-assigned-field-id": ("last-assigned-field-id", "last-column-id"),
    "assert-current-schema-id": ("current-schema-id", "current-schema-id"),
    "assert-last-assigned-partition-id": ("last-assigned-partition-id", "last-partition-id"),
    "assert-default-spec-id": ("default-spec-id", "default-spec-id"),
    "assert-default-sort-order-id": ("default-sort-order-id", "default-sort-order-id"),
}


def updated(metadata: Json, updates: Iterable[Json], now_ms: int) -> Json:
    """The metadata after the updates, in their order; what is known to nobody stays."""
    after = deepcopy(metadata)
    newest: dict[str, int] = {}
    for update in updates:
        _apply(after, update, newest, now_ms)
    after["last-updated-ms"] = max(now_ms, after["last-updated-ms"])
    return after


def _apply(m: Json, u: Json, newest: dict[str, int], now_ms: int) -> None:
    match u["action"]:
        case "assign-uuid":
            if m["table-uuid"] != u["uuid"]:
                raise bad("Cannot reassign uuid")
        case "upgrade-format-version":
            _upgrade(m, int(u["format-version"]))
        case "add-schema":
            newest["schema"] = _added(m["schemas"], u["schema"], "schema-id")
            m["last-column-id"] = max(m["last-column-id"], *(each["id"] for each in _fields(u["schema"])))
        case "set-current-schema":
            m["current-schema-id"] = newest["schema"] if u["schema-id"] == -1 else u["schema-id"]
            _one(m["schemas"], "schema-id", m["current-schema-id"])
        case "add-spec":
            newest["spec"] = _added(m["partition-specs"], u["spec"], "spec-id")
            ids = [field["field-id"] for field in u["spec"]["fields"]]
            m["last-partition-id"] = max([m["last-partition-id"], *ids])
        case "set-default-spec":
            m["default-spec-id"] = newest["spec"] if u["spec-id"] == -1 else u["spec-id"]
            _one(m["partition-specs"], "spec-id", m["default-spec-id"])
        case "add-sort-order":
            newest["order"] = _added(m["sort-orders"], u["sort-order"], "order-id")
        case "set-default-sort-order":
            m["default-sort-order-id"] = newest["order"] if u["sort-order-id"] == -1 else u["sort-order-id"]
            _one(m["sort-orders"], "order-id", m["default-sort-order-id"])
        case "add-snapshot":
            _add_snapshot(m, u["snapshot"])
        case "set-snapshot-ref":
            _one(m["snapshots"], "snapshot-id", u["snapshot-id"])
            m["refs"][u["ref-name"]] = {key: value for key, value in u.items() if key not in ("action", "ref-name")}
            if u["ref-name"] == "main":
                m["current-snapshot-id"] = u["snapshot-id"]
                m["snapshot-log"].append({"snapshot-id": u["snapshot-id"], "timestamp-ms": now_ms})
        case "remove-snapshot-ref":
            m["refs"].pop(u["ref-name"], None)
        case "remove-snapshots":
            m["snapshots"] = [each for each in m["snapshots"] if each["snapshot-id"] not in u["snapshot-ids"]]
        case "set-location":
            m["location"] = u["location"]
        case "set-properties":
            m["properties"] |= u["updates"]
        case "remove-properties":
            m["properties"] = {key: value for key, value in m["properties"].items() if key not in u["removals"]}
        case action:
            raise bad(f"Cannot apply update {action}")


def _upgrade(m: Json, version: int) -> None:
    if not m["format-version"] <= version <= 3:
        raise bad(f"Cannot move a table from format version {m['format-version']} to {version}")
    m["format-version"] = version
    if version > 1:
        m.setdefault("last-sequence-number", 0)
        m.pop("schema", None)
        m.pop("partition-spec", None)
    if version > 2:
        m.setdefault("next-row-id", 0)


def _add_snapshot(m: Json, snapshot: Json) -> None:
    if any(each["snapshot-id"] == snapshot["snapshot-id"] for each in m["snapshots"]):
        raise bad(f"Snapshot {snapshot['snapshot-id']} exists already")
    if m["format-version"] > 1:
        number = snapshot.get("sequence-number")
        if number is None or number <= m["last-sequence-number"]:
            raise bad(f"Cannot add snapshot with sequence number {number} after {m['last-sequence-number']}")
        m["last-sequence-number"] = number
    if m["format-version"] > 2:
        first, count = snapshot.get("first-row-id"), snapshot.get("added-rows")
        if first is None or count is None or first < m["next-row-id"]:
            raise bad(f"Cannot add a snapshot with first-row-id {first}, added-rows {count} at {m['next-row-id']}")
        m["next-row-id"] = first + count
    m["snapshots"].append(snapshot)


def _added(existing: list[Json], node: Json, key: str) -> int:
    """What is there already is not added again."""
    for each in existing:
        if {**each, key: 0} == {**node, key: 0}:
            return int(each[key])
    number = max((each[key] for each in existing), default=-1) + 1
    existing.append({**node, key: number})
    return number


def _one(nodes: list[Json], key: str, value: int) -> Json:
    for each in nodes:
        if each[key] == value:
            return each
    raise bad(f"There is no {key} {value}")


def _counter() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def _numbered(node: Any, ids: Iterator[int], numbers: dict[int, int]) -> Any:
    """A type with new ids: all members of a level before any of those inside them."""
    if not isinstance(node, dict):
        return node
    node = deepcopy(node)
    if node["type"] == "struct":
        for field in node["fields"]:
            numbers[field["id"]] = field["id"] = next(ids)
        for field in node["fields"]:
            field["type"] = _numbered(field["type"], ids, numbers)
    for part in ("key", "value", "element"):
        if f"{part}-id" in node:
            numbers[node[f"{part}-id"]] = node[f"{part}-id"] = next(ids)
    for part in ("key", "value", "element"):
        if part in node:
            node[part] = _numbered(node[part], ids, numbers)
    return node


def _sourced(fields: list[Json], numbers: dict[int, int]) -> list[Json]:
    return [{**field, "source-id": numbers[field["source-id"]]} for field in fields]


def _fields(node: Any) -> Iterator[Json]:
    if isinstance(node, dict):
        for field in node.get("fields", ()):
            yield field
            yield from _fields(field["type"])
        for part in ("key", "value", "element"):
            if part in node:
                yield {"id": node[f"{part}-id"]}
                yield from _fields(node[part])
