"""Which deletes apply to a data file? Pure: by sequence number, partition and path, as the specification says.

Scan Planning: a vector or position delete applies to files that are not newer than itself, an equality delete to older
ones only. Equality deletes under an unpartitioned spec are global.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lakewright.errors import CorruptTable
from lakewright.model.files import DataFile, DeleteFile, DeleteKind
from lakewright.model.partitioning import PartitionKey, PartitionSpec


@dataclass
class _Found:
    """Delete files by what they are about."""

    vectors: dict[str, DeleteFile] = field(default_factory=dict)
    by_path: dict[str, list[DeleteFile]] = field(default_factory=dict)
    by_partition: dict[PartitionKey, list[DeleteFile]] = field(default_factory=dict)
    equal_by_partition: dict[PartitionKey, list[DeleteFile]] = field(default_factory=dict)
    equal_everywhere: list[DeleteFile] = field(default_factory=list)


class DeleteIndex:
    """The delete files of one snapshot; a value that workers can be sent."""

    def __init__(self, deletes: Iterable[DeleteFile], specs: Mapping[int, PartitionSpec], table: str) -> None:
        self._found = _Found()
        self._table = table
        self._is_empty = True
        for delete in deletes:
            self._is_empty = False
            self._add(delete, specs, table)

    def of(self, file: DataFile) -> tuple[DeleteFile, ...]:
        """What takes rows out of a file, in the order in which it was written."""
        if self._is_empty:
            return ()
        found, key = self._found, comparable_key(file.partition)
        sequence = file.data_sequence_number
        if sequence is None:
            raise CorruptTable(
                f"file {file.location} of table {self._table} has no sequence number, so which deletes it is older than is "
                "not known"
            )
        vector = found.vectors.get(file.location)
        equal = [*found.equal_everywhere, *found.equal_by_partition.get(key, ())]
        applying = [delete for delete in equal if sequence < delete.data_sequence_number]
        if vector is not None and sequence <= vector.data_sequence_number:
            applying.append(vector)
        else:
            of_path = found.by_path.get(file.location, ())
            positions = [*of_path, *found.by_partition.get(key, ())]
            applying += [delete for delete in positions if sequence <= delete.data_sequence_number]
        return tuple(sorted(applying, key=lambda delete: (delete.data_sequence_number, delete.location)))

    def _add(self, delete: DeleteFile, specs: Mapping[int, PartitionSpec], table: str) -> None:
        found, key = self._found, comparable_key(delete.partition)
        match delete.kind:
            case DeleteKind.VECTOR:
                path = delete.referenced_data_file
                if path is None:
                    raise CorruptTable(f"deletion vector in {delete.location} of table {table} names no data file")
                other = found.vectors.setdefault(path, delete)
                if other is not delete:
                    raise CorruptTable(
                        f"file {path} of table {table} has two deletion vectors, in {other.location} and "
                        f"{delete.location}; there can be one"
                    )
            case DeleteKind.POSITIONS if delete.referenced_data_file is not None:
                found.by_path.setdefault(delete.referenced_data_file, []).append(delete)
            case DeleteKind.POSITIONS:
                found.by_partition.setdefault(key, []).append(delete)
            case DeleteKind.EQUALITY if specs[delete.partition.spec_id].is_unpartitioned:
                found.equal_everywhere.append(delete)
            case DeleteKind.EQUALITY:
                found.equal_by_partition.setdefault(key, []).append(delete)


def comparable_key(key: PartitionKey) -> PartitionKey:
    """Floats by how they are written: NaN is one partition, although it equals nothing, and -0.0 is another than 0.0,
    although they are equal."""
    if not any(isinstance(value, float) for value in key.values):
        return key
    return PartitionKey(key.spec_id, tuple(repr(value) if isinstance(value, float) else value for value in key.values))
