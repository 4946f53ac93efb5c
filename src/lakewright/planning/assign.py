"""Which incoming column goes into which column of the table, and is its type one that may be stored there?"""

from lakewright.errors import InvalidRequest
from lakewright.model.assignment import ColumnAssignment, Filled, FromColumn
from lakewright.model.schema import Schema, nearest
from lakewright.model.types import (
    FLOATING,
    INTEGRAL,
    ColumnType,
    DecimalType,
    Field,
    FixedType,
    ListType,
    MapType,
    Primitive,
    StructType,
)

_INTEGER_DIGITS = {Primitive.INT: 10, Primitive.LONG: 20}
_ENGINE_CASTS = frozenset(
    {
        (Primitive.DATE, Primitive.TIMESTAMP),
        (Primitive.DATE, Primitive.TIMESTAMPTZ),
        (Primitive.TIMESTAMP, Primitive.TIMESTAMPTZ),
        (Primitive.TIMESTAMPTZ, Primitive.TIMESTAMP),
    }
)
_EXACT_OR_REFUSED = frozenset(
    {
        (Primitive.TIMESTAMP_NS, Primitive.TIMESTAMP),
        (Primitive.TIMESTAMPTZ_NS, Primitive.TIMESTAMPTZ),
        (Primitive.TIMESTAMP, Primitive.TIMESTAMP_NS),
        (Primitive.TIMESTAMPTZ, Primitive.TIMESTAMPTZ_NS),
        (Primitive.FLOAT, Primitive.DOUBLE),
        (Primitive.STRING, Primitive.UUID),
        (Primitive.INT, Primitive.LONG),
    }
)
"""Stored without Spark: no value changes, and one that does not fit is an error when it is met."""
_TO_TEXT = frozenset(
    {Primitive.BOOLEAN, Primitive.DATE, Primitive.TIMESTAMP, Primitive.TIMESTAMPTZ, *INTEGRAL, *FLOATING}
)


def assign_by_name(incoming: StructType, schema: Schema, *, case_sensitive: bool) -> tuple[ColumnAssignment, ...]:
    """For each column of the table where its value comes from; extra, missing and narrowing columns are refused."""
    sources = _sources(incoming.fields, schema.fields, "", case_sensitive)
    return tuple(_assignment(target, sources.get(target.name), case_sensitive) for target in schema.fields)


def _sources(given: tuple[Field, ...], wanted: tuple[Field, ...], above: str, case_sensitive: bool) -> dict[str, Field]:
    """The given field for each wanted one, by its name; one that nobody wants, or that may be meant for two, is refused."""
    kind = "member" if above else "column"
    wanted_by_name = _by_name(wanted, case_sensitive)
    sources: dict[str, Field] = {}
    for key, found in _by_name(given, case_sensitive).items():
        targets = wanted_by_name.get(key, [])
        if not targets:
            names = nearest(found[0].name, [child.name for child in wanted])
            raise InvalidRequest(f"incoming {kind} {above}{found[0].name} is not in the table; {names}")
        if len(found) > 1:
            names = ", ".join(child.name for child in found)
            raise InvalidRequest(f"{kind} {above}{targets[0].name} is ambiguous: the incoming rows have {names}")
        if len(targets) > 1:
            names = ", ".join(child.name for child in targets)
            raise InvalidRequest(
                f"incoming {kind} {above}{found[0].name} is ambiguous: the table has {names}; set spark.sql.caseSensitive"
            )
        sources[targets[0].name] = found[0]
    return sources


def _by_name(fields: tuple[Field, ...], case_sensitive: bool) -> dict[str, list[Field]]:
    found: dict[str, list[Field]] = {}
    for child in fields:
        found.setdefault(child.name if case_sensitive else child.name.lower(), []).append(child)
    return found


def _assignment(target: Field, source: Field | None, case_sensitive: bool) -> ColumnAssignment:
    if source is None:
        _check_may_be_missing(target, target.name)
        return Filled(target, target.write_default)
    engine_cast = needs_engine_cast(source.type, target.type)
    if not engine_cast:
        _check_storable(source.type, target, target.name, case_sensitive)
    return FromColumn(target, source.name, engine_cast)


def _check_may_be_missing(target: Field, name: str) -> None:
    if target.required and target.write_default is None:
        raise InvalidRequest(f"column {name} is required, and the incoming rows do not have it")


def needs_engine_cast(source: ColumnType, target: ColumnType) -> bool:
    """Casts whose result depends on the session, or on how Spark prints a value."""
    if target == Primitive.STRING:
        return source in _TO_TEXT or isinstance(source, DecimalType)
    return (source, target) in _ENGINE_CASTS


def _check_storable(source: ColumnType, target: Field, name: str, case_sensitive: bool) -> None:
    match source, target.type:
        case StructType(given), StructType(wanted):
            _check_members(given, wanted, name, case_sensitive)
        case ListType(given_element), ListType(wanted_element):
            _check_storable(given_element.type, wanted_element, f"{name}.element", case_sensitive)
        case MapType(given_key, given_value), MapType(wanted_key, wanted_value):
            _check_storable(given_key.type, wanted_key, f"{name}.key", case_sensitive)
            _check_storable(given_value.type, wanted_value, f"{name}.value", case_sensitive)
        case _ if not is_storable(source, target.type):
            raise InvalidRequest(
                f"column {name} is {target.type} and the incoming rows have {source}, which may not fit; cast it first"
            )
        case _:
            return


def _check_members(given: tuple[Field, ...], wanted: tuple[Field, ...], name: str, case_sensitive: bool) -> None:
    sources = _sources(given, wanted, f"{name}.", case_sensitive)
    for member in wanted:
        source = sources.get(member.name)
        if source is None:
            _check_may_be_missing(member, f"{name}.{member.name}")
        else:
            _check_storable(source.type, member, f"{name}.{member.name}", case_sensitive)


def is_storable(source: ColumnType, target: ColumnType) -> bool:
    """Whether every value of the source type is a value of the target type, or is refused when it is not."""
    if source == target or source == Primitive.UNKNOWN or (source, target) in _EXACT_OR_REFUSED:
        return True
    match source, target:
        case ((Primitive.INT | Primitive.LONG), (Primitive.FLOAT | Primitive.DOUBLE)):
            return True
        case ((Primitive.INT | Primitive.LONG), DecimalType(precision, scale)):
            return precision - scale >= _INTEGER_DIGITS[source]
        case DecimalType(given, given_scale), DecimalType(precision, scale):
            return scale >= given_scale and precision - scale >= given - given_scale
        case DecimalType(precision, 0), (Primitive.INT | Primitive.LONG):
            return precision < _INTEGER_DIGITS[target] - (1 if target is Primitive.LONG else 0)
        case FixedType(given), (Primitive.BINARY | Primitive.UUID):
            return target is Primitive.BINARY or given == 16
        case (Primitive.BINARY, FixedType()):
            return True
        case _:
            return False
