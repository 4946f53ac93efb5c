"""What may have happened to a table? A past drawn from a seed: rows, schemas, specs and deletes in any order."""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import reduce
from typing import Any

from lakewright.model.files import DataFile, DeleteFile, DeleteKind, FileMetrics
from lakewright.model.partitioning import (
    Bucket,
    Day,
    Identity,
    Month,
    PartitionField,
    PartitionSpec,
    Transform,
    Truncate,
    Void,
    Year,
)
from lakewright.model.schema import Schema
from lakewright.model.types import (
    FLOATING,
    ColumnType,
    DecimalType,
    Field,
    ListType,
    MapType,
    Primitive,
    StructType,
    walk,
)
from lakewright.model.values import encode_value
from tests.histories.builder import Mark, TableWithPast, Written
from tests.histories.oracle import is_gone, same_partition
from tests.histories.values import Row, comparable, partition_of, seen_member, stored

ID = Field(1, "id", Primitive.LONG, required=True)
NARROW = DecimalType(5, 2)
SIMPLE = (
    Primitive.INT,
    Primitive.LONG,
    Primitive.FLOAT,
    Primitive.DOUBLE,
    Primitive.STRING,
    Primitive.DATE,
    Primitive.BOOLEAN,
    NARROW,
)
PROMOTED: dict[ColumnType, ColumnType] = {
    Primitive.INT: Primitive.LONG,
    Primitive.FLOAT: Primitive.DOUBLE,
    NARROW: DecimalType(12, 2),
}
NULL_SHARE = 0.2
FIRST_DAY = date(2020, 2, 27)
TEXTS = ("", "a", "ab", "abc", "b", "z\u00fc", "\U0001f600", "memory://lake/t")


@dataclass
class RandomPast:
    """Draws what happens next; `happened` counts what did."""

    table: TableWithPast
    draw: random.Random
    happened: Counter[str] = field(default_factory=Counter)
    last_id: int = 1
    last_part_id: int = 999
    last_row: int = 0

    def run(self, steps: int) -> None:
        self.table.evolve(Schema((ID, *(self._new_field(f"c{number}") for number in range(4)))))
        if self.draw.random() < 0.8:
            self._repartition()
        self._append()
        for _ in range(steps):
            self.draw.choices(*zip(*self._possible(), strict=True))[0]()

    def _possible(self) -> list[tuple[Callable[[], None], int]]:
        version = self.table.format_version
        return [
            (self._append, 7),
            (self._evolve, 7),
            (self._repartition, 3),
            (self._remove, 1),
            (self._rewrite_manifests, 1),
            (self._upgrade, 1),
            (self._delete_equal, 3 if version > 1 else 0),
            (self._upsert, 2 if version > 1 else 0),
            (self._delete_positions, 4 if version == 2 else 0),
            (self._mark_vectors, 5 if version > 2 else 0),
        ]

    # Rows and files.

    def _append(self) -> None:
        self.happened["append"] += 1
        self.table.commit(self._files())

    def _files(self) -> list[Written]:
        """Under the spec of now, or an older one."""
        table, draw = self.table, self.draw
        specs = [spec for spec in table.specs.values() if self._can_write(spec)]
        spec = table.spec if draw.random() < 0.8 else draw.choice(specs)
        groups: dict[tuple[str, ...], tuple[tuple[Any, ...], list[Row]]] = {}
        for row in [self._row() for _ in range(draw.randint(1, 12))]:
            key = partition_of(row, spec, table.schema)
            groups.setdefault(tuple(map(repr, key)), (key, []))[1].append(row)
        return [self._file(rows, key, spec) for key, rows in groups.values()]

    def _file(self, rows: list[Row], key: tuple[Any, ...], spec: PartitionSpec) -> Written:
        from_partition = [p.source_id for p in spec.fields if p.transform == Identity() and p.source_id != ID.id]
        left_out = [each for each in from_partition if self.draw.random() < 0.5]
        self.happened["column only in the partition"] += bool(left_out)
        lineage = None
        if self.table.format_version > 2 and self.draw.random() < 0.4:
            self.happened["rows with ids of their own"] += 1
            lineage = [self.draw.choice([(None, None), (10_000 + i, 1), (20_000 + i, None)]) for i in range(len(rows))]
        metrics = self._metrics(rows) if self.draw.random() < 0.8 else FileMetrics()
        return self.table.file(rows, key, spec=spec, left_out=left_out, metrics=metrics, lineage=lineage)

    def _can_write(self, spec: PartitionSpec) -> bool:
        columns = {child.id for child in self.table.schema.fields}
        return all(part.source_id in columns or part.transform == Void() for part in spec.fields)

    def _row(self) -> Row:
        self.last_row += 1
        return {ID.id: self.last_row} | {
            child.id: self.value(child.type) for child in self.table.schema.fields if child.id != ID.id
        }

    def value(self, kind: ColumnType, *, nullable: bool = True) -> Any:
        draw = self.draw
        if nullable and draw.random() < NULL_SHARE:
            return None
        match kind:
            case StructType(members):
                return {child.id: self.value(child.type) for child in members}
            case ListType(element):
                return [self.value(element.type) for _ in range(draw.randint(0, 3))]
            case MapType(_, value):
                return [(key, self.value(value.type)) for key in draw.sample(TEXTS, draw.randint(0, 3))]
            case Primitive.INT | Primitive.LONG:
                large = 2**31 - 1 if kind == Primitive.INT else 2**62
                return draw.choice([0, 1, 2, 3, 4, -1, -7, large, -large])
            case Primitive.FLOAT | Primitive.DOUBLE:
                return draw.choice([0.0, 1.5, -2.25, 3.0, math.nan, math.inf, -math.inf])
            case Primitive.STRING:
                return draw.choice(TEXTS)
            case Primitive.BOOLEAN:
                return draw.random() < 0.5
            case Primitive.DATE:
                return FIRST_DAY + timedelta(days=draw.choice([0, 1, 2, 40, -20_000]))
            case Primitive.TIMESTAMP:
                moment = datetime(FIRST_DAY.year, FIRST_DAY.month, FIRST_DAY.day)
                return moment + timedelta(days=draw.randint(0, 2), microseconds=draw.choice([0, 0, 1]))
            case _:
                return Decimal(draw.randint(-300, 300)).scaleb(-2)

    def _metrics(self, rows: Sequence[Row]) -> FileMetrics:
        counts: list[dict[int, int]] = [{}, {}, {}]
        bounds: list[dict[int, bytes]] = [{}, {}]
        for path, child in walk(self.table.schema.fields):
            if child.id in self.table.schema.repeated_ids or isinstance(child.type, StructType | ListType | MapType):
                continue
            if self.draw.random() < 0.9:
                ids = [self.table.schema.resolve(path[: n + 1], case_sensitive=True).id for n in range(len(path))]
                values = [reduce(lambda row, each: None if row is None else row[each], ids, row) for row in rows]
                self._measure(child, [stored(value) for value in values], counts, bounds)
        values_of, nulls, nans = counts
        return FileMetrics({}, values_of, nulls, nans, *bounds)

    def _measure(
        self, child: Field, values: list[Any], counts: list[dict[int, int]], bounds: list[dict[int, bytes]]
    ) -> None:
        nans = [value for value in values if isinstance(value, float) and math.isnan(value)]
        known = [value for value in values if value is not None and value not in nans]
        counts[0][child.id], counts[1][child.id] = len(values), values.count(None)
        if child.type in FLOATING and self.draw.random() < 0.8:
            counts[2][child.id] = len(nans)
        if not known:
            return
        low, high = min(known), max(known)
        if child.type == Primitive.STRING:
            low = low[:1]
        bounds[0][child.id] = encode_value(child.type, low)
        if self.draw.random() < 0.9:
            bounds[1][child.id] = encode_value(child.type, high)

    # Schemas and specs.

    def _new_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def _new_field(self, name: str) -> Field:
        """Version 3 may say what old rows have in it."""
        field_id, kind = self._new_id(), self._type()
        default = None
        simple = not isinstance(kind, StructType | ListType | MapType)
        if self.table.format_version > 2 and simple and self.draw.random() < 0.6:
            value = self.value(kind, nullable=False)
            default = None if isinstance(value, float) and not math.isfinite(value) else stored(value)
            self.happened["default"] += default is not None
        return Field(field_id, name, kind, initial_default=default)

    def _type(self, *, depth: int = 0) -> ColumnType:
        draw = self.draw
        if depth > 1 or draw.random() < 0.65:
            return draw.choice(SIMPLE)
        match draw.randint(0, 2):
            case 0:
                return StructType(
                    tuple(Field(self._new_id(), name, self._type(depth=depth + 1)) for name in ("x", "y"))
                )
            case 1:
                return ListType(Field(self._new_id(), "element", self._type(depth=depth + 1)))
            case _:
                key = Field(self._new_id(), "key", Primitive.STRING, required=True)
                return MapType(key, Field(self._new_id(), "value", self._type(depth=depth + 1)))

    def _free_name(self, taken: Sequence[Field]) -> str:
        names = {child.name for child in taken}
        return self.draw.choice(
            [name for name in (f"c{number}" for number in range(len(names) + 4)) if name not in names]
        )

    def _evolve(self) -> None:
        for _ in range(self.draw.randint(1, 2)):
            fields = list(self.table.schema.fields)
            change = self.draw.choice(
                [self._add, self._add, self._drop, self._rename, self._swap, self._move, self._deepen, self._deepen]
            )
            changed = change(fields)
            if changed != list(self.table.schema.fields):
                self.happened[change.__name__.strip("_")] += 1
                self.table.evolve(Schema(tuple(changed)))

    def _add(self, fields: list[Field]) -> list[Field]:
        """Names of columns that were dropped come back."""
        return [*fields, self._new_field(self._free_name(fields))] if len(fields) < 8 else fields

    def _drop(self, fields: list[Field]) -> list[Field]:
        used = {part.source_id for part in self.table.spec.fields if part.transform != Void()}
        idle = [child for child in fields if child.id not in used and child.id != ID.id]
        return [child for child in fields if child is not self.draw.choice(idle)] if idle else fields

    def _rename(self, fields: list[Field]) -> list[Field]:
        place = self.draw.randrange(1, len(fields)) if len(fields) > 1 else 0
        fields[place] = replace(fields[place], name=self._free_name(fields) if place else "id")
        return fields

    def _swap(self, fields: list[Field]) -> list[Field]:
        if len(fields) > 2:
            one, other = self.draw.sample(range(1, len(fields)), 2)
            names = fields[one].name, fields[other].name
            fields[one], fields[other] = replace(fields[one], name=names[1]), replace(fields[other], name=names[0])
        return fields

    def _move(self, fields: list[Field]) -> list[Field]:
        return self.draw.sample(fields, len(fields))

    def _deepen(self, fields: list[Field]) -> list[Field]:
        """A promotion somewhere, or another member of a struct somewhere."""
        return [child if child.id == ID.id or self.draw.random() < 0.5 else self._changed(child) for child in fields]

    def _changed(self, child: Field) -> Field:
        match child.type:
            case StructType(members):
                return replace(child, type=StructType(self._changed_members(members)))
            case ListType(element):
                return replace(child, type=ListType(self._changed(element)))
            case MapType(key, value):
                return replace(child, type=MapType(key, self._changed(value)))
            case Primitive.DATE if self._may_become_timestamp(child):
                self.happened["date promoted"] += 1
                return replace(child, type=Primitive.TIMESTAMP)
            case kind:
                self.happened["promoted"] += kind in PROMOTED
                return replace(child, type=PROMOTED.get(kind, kind))

    def _changed_members(self, members: tuple[Field, ...]) -> tuple[Field, ...]:
        match self.draw.randint(0, 4):
            case 0 if len(members) < 5:
                return (*members, self._new_field(self._free_name(members)))
            case 1 if len(members) > 1:
                return members[1:]
            case 2:
                return tuple(reversed(members))
            case 3:
                return (replace(members[0], name=self._free_name(members)), *members[1:])
            case _:
                return tuple(map(self._changed, members))

    def _may_become_timestamp(self, child: Field) -> bool:
        """In version 3; partition values of dates stay what they are only below a calendar's transforms."""
        parts = [part for spec in self.table.specs.values() for part in spec.fields if part.source_id == child.id]
        calendar = all(part.transform in (Day(), Month(), Year()) for part in parts)
        return self.table.format_version > 2 and calendar and child.initial_default is None

    def _repartition(self) -> None:
        self.happened["repartition"] += 1
        if self.table.spec.fields and self.draw.random() < 0.2:
            self.happened["void"] += 1
            self.table.partition_by(*(replace(part, transform=Void()) for part in self.table.spec.fields))
            return
        simple = [child for child in self.table.schema.fields if self._transforms(child.type)]
        chosen = self.draw.sample(simple, min(len(simple), self.draw.choice([0, 1, 1, 1, 2])))
        self.table.partition_by(*(self._part(child) for child in chosen))

    def _part(self, child: Field) -> PartitionField:
        """The same field of a spec keeps its id."""
        transform = self.draw.choice(self._transforms(child.type))
        for spec in self.table.specs.values():
            for part in spec.fields:
                if (part.source_id, part.transform) == (child.id, transform):
                    return part
        self.last_part_id += 1
        return PartitionField(child.id, self.last_part_id, f"p{self.last_part_id}", transform)

    def _transforms(self, kind: ColumnType) -> tuple[Transform, ...]:
        match kind:
            case Primitive.BOOLEAN | Primitive.FLOAT | Primitive.DOUBLE:
                return (Identity(),)
            case Primitive.INT | Primitive.LONG | Primitive.STRING | DecimalType():
                return (Identity(), Bucket(3), Truncate(2))
            case Primitive.DATE:
                return (Identity(), Bucket(3), Year(), Month(), Day())
            case Primitive.TIMESTAMP:
                return (Year(), Month(), Day())
            case _:
                return ()

    # What others delete.

    def _left(self) -> list[tuple[Written, int]]:
        version, specs = self.table.versions[-1], self.table.specs
        return [
            (written, position)
            for written in version.data
            for position in range(len(written.rows))
            if not is_gone(written, position, version, specs)
        ]

    def _some(self, places: list[tuple[Written, int]]) -> list[tuple[Written, int]]:
        return self.draw.sample(places, min(len(places), self.draw.randint(1, 6)))

    def _delete_positions(self) -> None:
        marks = self._position_marks(self._some(self._left()))
        self.table.commit(marks=marks)

    def _position_marks(self, places: list[tuple[Written, int]]) -> list[Mark]:
        """One file for each partition, or for each file; in any order; some twice."""
        marks, draw = [], self.draw
        while places:
            first = places[0][0].file
            alone = draw.random() < 0.3
            chosen = [
                place
                for place in places
                if (
                    place[0].file.location == first.location
                    if alone
                    else same_partition(place[0].file.partition, first.partition)
                )
            ]
            places = [place for place in places if not any(place is each for each in chosen)]
            files = {written.file.location for written, _ in chosen}
            repeated = chosen + draw.sample(chosen, draw.randint(0, 1))
            self.happened[f"positions in {'one file' if len(files) == 1 else 'several files'}"] += 1
            referenced = len(files) == 1 and draw.random() < 0.5
            marks.append(self.table.positions(repeated, referenced=referenced, bounds=draw.random() < 0.7))
        return marks

    def _delete_equal(self) -> None:
        self.table.commit(marks=self._equality_marks())

    def _upsert(self) -> None:
        """New rows with the keys of old ones, and deletes of the same keys, in one version: the new rows stay."""
        self.happened["upsert"] += 1
        written = self._files()
        marks = self._equality_marks([row for each in written for row in each.rows])
        if self.table.format_version == 2:
            marks += self._position_marks(self._some([(each, n) for each in written for n in range(len(each.rows))]))
        self.table.commit(written, marks)

    def _equality_marks(self, rows: Sequence[Row] = ()) -> list[Mark]:
        """By keys of rows that there are, or were, or never were."""
        table, draw = self.table, self.draw
        simple = [child for child in table.schema.fields if not isinstance(child.type, StructType | ListType | MapType)]
        by = draw.sample(simple, min(len(simple), draw.choice([1, 2, 2, 3])))
        some = [written for written in table.live if draw.random() < 0.5] or list(table.live)
        known = [*rows, *(row for written in some for row in written.rows)]
        chosen = [
            draw.choice(known) if draw.random() < 0.8 and known else self._row() for _ in range(draw.randint(1, 2))
        ]
        keys = [{child.id: seen_member(row, child) for child in table.schema.fields} for row in chosen]
        spec, partition = PartitionSpec(0), ()
        if some and draw.random() < 0.6:
            key = draw.choice(some).file.partition
            spec, partition = table.specs[key.spec_id], key.values
        self.happened["equality everywhere" if not spec.fields else "equality in a partition"] += 1
        for child in by:
            kinds = {repr(comparable(key[child.id], child.type)) for key in keys}
            self.happened["NULL key"] += "None" in kinds
            self.happened["NaN key"] += "'NaN'" in kinds
        more = [child.id for child in simple if child not in by and draw.random() < 0.3]
        return [table.equality(tuple(child.id for child in by), keys, partition, spec=spec, more=more)]

    def _mark_vectors(self) -> None:
        """A new vector of a file holds what was marked before; its older vector goes."""
        version = self.table.versions[-1]
        positions: dict[str, set[int]] = {}
        for written, position in self._some(self._left()):
            positions.setdefault(written.file.location, set()).add(position)
        if not positions:
            return
        old = [
            m for m in version.marks if m.file.kind is DeleteKind.VECTOR and m.file.referenced_data_file in positions
        ]
        for mark in version.marks:
            for path, position in mark.positions:
                if path in positions:
                    positions[path].add(position)
                    self.happened["position deletes below a vector"] += mark.file.kind is DeleteKind.POSITIONS
        self.happened["several vectors in a file"] += len(positions) > 1
        self.happened["vector replaced"] += bool(old)
        self.table.commit(marks=self.table.vectors(positions), removed=[mark.file for mark in old])

    # What others tidy up.

    def _remove(self) -> None:
        """Deletes of a file that is gone may stay; its vector may not."""
        if len(self.table.live) < 2:
            return
        self.happened["files removed"] += 1
        removed: list[DataFile | DeleteFile] = [self.draw.choice(self.table.live).file]
        removed += [
            mark.file
            for mark in self.table.versions[-1].marks
            if mark.file.kind is DeleteKind.VECTOR and mark.file.referenced_data_file == removed[0].location
        ]
        self.table.commit(self._files() if self.draw.random() < 0.5 else (), removed=removed)

    def _rewrite_manifests(self) -> None:
        self.happened["manifests merged"] += 1
        self.table.commit(merge_manifests=True)

    def _upgrade(self) -> None:
        if self.table.format_version < 3:
            self.happened["upgrade"] += 1
            self.table.format_version += 1
