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
    by_name: dict[str, list[Field]] = {}
    for child in incoming.fields:
        by_name.setdefault(_key(child.name, case_sensitive), []).append(child)
    known = {_key(child.name, case_sensitive) for child in schema.fields}
    for key, found in by_name.items():
        if key not in known:
            names = [child.name for child in schema.fields]
            raise InvalidRequest(
                f"incoming column {found[0].name} is not in the table; {nearest(found[0].name, names)}"
            )
    return tuple(
        _assignment(target, by_name.get(_key(target.name, case_sensitive), []), case_sensitive)
        for target in schema.fields
    )


def _assignment(target: Field, found: list[Field], case_sensitive: bool) -> ColumnAssignment:
    if len(found) > 1:
        names = ", ".join(child.name for child in found)
        raise InvalidRequest(f"column {target.name} is ambiguous: the incoming rows have {names}")
    if not found:
        if target.required and target.write_default is None:
            raise InvalidRequest(f"column {target.name} is required, and the incoming rows do not have it")
        return Filled(target, target.write_default)
    source = found[0]
    engine_cast = needs_engine_cast(source.type, target.type)
    if not engine_cast:
        _check_storable(source.type, target, target.name, case_sensitive)
    return FromColumn(target, source.name, engine_cast)


def needs_engine_cast(source: ColumnType, target: ColumnType) -> bool:
    """Casts whose result depends on the session, or on how Spark prints a value."""
    if target == Primitive.STRING:
        return source in _TO_TEXT or isinstance(source, DecimalType)
    return (source, target) in _ENGINE_CASTS


def _check_storable(source: ColumnType, target: Field, name: str, case_sensitive: bool) -> None:
    match source, target.type:
        case StructType(given), StructType(wanted):
            _check_members(given, wanted, name)
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


def _check_members(given: tuple[Field, ...], wanted: tuple[Field, ...], name: str) -> None:
    """Members go by their exact names, whatever their order."""
    given_by_name = {child.name: child for child in given}
    for child in given:
        if child.name not in {member.name for member in wanted}:
            names = [member.name for member in wanted]
            raise InvalidRequest(
                f"incoming member {name}.{child.name} is not in the table; {nearest(child.name, names)}"
            )
    for member in wanted:
        found = given_by_name.get(member.name)
        if found is not None:
            _check_storable(found.type, member, f"{name}.{member.name}", True)
        elif member.required:
            raise InvalidRequest(f"column {name}.{member.name} is required, and the incoming rows do not have it")


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


def _key(name: str, case_sensitive: bool) -> str:
    return name if case_sensitive else name.lower()
