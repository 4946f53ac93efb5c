"""Which tables are opened, by name, by file or by folder, and which are refused for what reason?"""

import gzip
import json
from collections.abc import Mapping
from typing import Any

import pytest

from lakewright.errors import CorruptTable, InvalidRequest, LakewrightError, Unsupported
from lakewright.formats.iceberg.adapter import IcebergSource, IcebergTable
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.model.changes import Committed, UpgradeFormat
from lakewright.testing.memory import MemoryStore
from lakewright.testing.steady import CountingIds, FixedClock
from lakewright.testing.tables import TableBuilder, listed_files

ROOT = "memory://w/t"
FOLDER = f"{ROOT}/metadata"


class Bench:
    """A folder table with two versions, each with one file, whose objects can be put elsewhere, or damaged."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.source = IcebergSource(FolderCatalog(self.store, "memory://w"), self.store, FixedClock(), CountingIds())
        builder = TableBuilder(self.source)
        builder.append_rows(builder.create("t"), 1)
        builder.append_rows(self.source.open("t"), 2)

    def open(self, location: str = ROOT, *, guess: bool = False) -> IcebergTable:
        return self.source.open_location(location, guess=guess)

    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.store.read(f"{FOLDER}/v3.metadata.json"))
        return found

    def rename(self, names: Mapping[str, str]) -> None:
        """Files of the metadata folder, under other names; in gzip, if the name says so."""
        for old, new in names.items():
            content = self.store.objects.pop(f"{FOLDER}/{old}")
            self.store.write(f"{FOLDER}/{new}", gzip.compress(content, mtime=0) if ".gz" in new else content)

    def only(self, pattern: str) -> str:
        (found,) = [location for location in self.store.objects if pattern in location]
        return found

    def newest(self, pattern: str) -> str:
        return [location for location in self.store.objects if pattern in location][-1]

    def set(self, **changes: Any) -> None:
        """Change keys of the newest document; None takes one away."""
        document = {**self.document(), **{key.replace("_", "-"): value for key, value in changes.items()}}
        kept = {key: value for key, value in document.items() if value is not None}
        self.store.write(f"{FOLDER}/v3.metadata.json", json.dumps(kept).encode())


def counts(table: IcebergTable) -> list[int]:
    snapshot = table.snapshot(table.head())
    return sorted(file.record_count for file in listed_files(snapshot, table, table.store(table.head())))


def refused(bench: Bench, location: str = ROOT) -> LakewrightError:
    with pytest.raises(LakewrightError) as caught:
        counts(bench.open(location))
    return caught.value


class TestMetadataFile:
    @pytest.mark.parametrize(
        "name", ["v3.metadata.json", "v3.gz.metadata.json", "v3.metadata.json.gz", "00007-x.gz.metadata.json"]
    )
    def test_a_metadata_file_is_opened_as_it_is(self, name: str) -> None:
        bench = Bench()
        bench.rename({"v3.metadata.json": name})
        assert counts(bench.open(f"{FOLDER}/{name}")) == [1, 2]

    def test_gzip_is_recognised_by_the_content(self) -> None:
        bench = Bench()
        location = f"{FOLDER}/v3.metadata.json"
        bench.store.write(location, gzip.compress(bench.store.read(location)))
        assert counts(bench.open(location)) == [1, 2]

    def test_an_older_file_is_the_older_version_for_ever(self) -> None:
        bench = Bench()
        table = bench.open(f"{FOLDER}/v2.metadata.json")
        assert counts(table) == [1]
        before = dict(bench.store.objects)
        assert "opened as a metadata file" in str(table.capabilities.read_only_because)
        with pytest.raises(Unsupported, match="is one version for ever"):
            table.stage(table.head(), UpgradeFormat(3))
        assert bench.store.objects == before


class TestFolder:
    @pytest.mark.parametrize("ending", [".metadata.json", ".gz.metadata.json", ".metadata.json.gz"])
    @pytest.mark.parametrize("location", [ROOT, f"{ROOT}/"])
    def test_the_highest_version_is_the_newest_under_each_of_its_names(self, ending: str, location: str) -> None:
        bench = Bench()
        bench.rename({"v3.metadata.json": f"v3{ending}"})
        table = bench.open(location)
        assert counts(table) == [1, 2]
        assert table.publish(table.stage(table.head(), UpgradeFormat(3))) == Committed()
        assert bench.open().head().token == f"{FOLDER}/v4.metadata.json"
        assert bench.store.read(f"{FOLDER}/version-hint.text") == b"4"

    def test_versions_are_compared_as_numbers(self) -> None:
        bench = Bench()
        bench.rename({"v2.metadata.json": "v9.metadata.json", "v3.metadata.json": "v10.metadata.json"})
        assert bench.open().head().token == f"{FOLDER}/v10.metadata.json"

    @pytest.mark.parametrize("hint", [None, b"1", b"2", b"99", b"", b"not a number", b"\xff\xfe"])
    def test_a_hint_decides_nothing(self, hint: bytes | None) -> None:
        bench = Bench()
        bench.store.delete(f"{FOLDER}/version-hint.text")
        if hint is not None:
            bench.store.write(f"{FOLDER}/version-hint.text", hint)
        assert counts(bench.open()) == [1, 2]

    @pytest.mark.parametrize("ending", [".gz.metadata.json", ".metadata.json.gz"])
    def test_two_names_of_the_newest_version_contradict_each_other(self, ending: str) -> None:
        bench = Bench()
        bench.store.write(f"{FOLDER}/v3{ending}", bench.store.read(f"{FOLDER}/v3.metadata.json"))
        error = refused(bench)
        assert isinstance(error, CorruptTable)
        assert f"{FOLDER}/v3.metadata.json" in str(error)
        assert f"{FOLDER}/v3{ending}" in str(error)
        assert "are both version 3" in str(error)

    def test_two_names_of_an_older_version_are_nobodys_concern(self) -> None:
        bench = Bench()
        bench.store.write(f"{FOLDER}/v2.gz.metadata.json", b"whatever")
        assert counts(bench.open()) == [1, 2]

    @pytest.mark.parametrize("taken", ["v4.gz.metadata.json", "v4.metadata.json.gz", "v4.metadata.json"])
    def test_a_version_that_has_any_of_its_names_is_taken(self, taken: str) -> None:
        bench = Bench()
        table = bench.open()
        staged = table.stage(table.head(), UpgradeFormat(3))
        bench.store.write(f"{FOLDER}/{taken}", bench.store.read(f"{FOLDER}/v3.metadata.json"))
        assert table.publish(staged) != Committed()
        assert not table.includes(table.head(), staged)

    @pytest.mark.parametrize(
        "name",
        ["V4.metadata.json", "v4.metadata.jso", "xv4.metadata.json", "v4-1.metadata.json", "deeper/v4.metadata.json"],
    )
    def test_what_is_named_otherwise_is_no_version(self, name: str) -> None:
        bench = Bench()
        bench.store.write(f"{FOLDER}/{name}", b"{}")
        assert counts(bench.open()) == [1, 2]

    @pytest.mark.parametrize("location", ["memory://w/nothing", "memory://w"])
    def test_a_folder_without_a_table_is_refused(self, location: str) -> None:
        error = refused(Bench(), location)
        assert isinstance(error, InvalidRequest)
        assert f"there is no table at {location}" in str(error)


class TestFolderOfACatalog:
    """`NNNNN-<uuid>` files: which of them is the newest committed one, only the catalog knows."""

    @pytest.fixture
    def bench(self) -> Bench:
        bench = Bench()
        bench.rename(
            {
                "v1.metadata.json": "00000-c.metadata.json",
                "v2.metadata.json": "00001-b.metadata.json",
                "v3.metadata.json": "00002-a.gz.metadata.json",
            }
        )
        return bench

    def test_it_is_refused_with_what_can_be_done(self, bench: Bench) -> None:
        error = refused(bench)
        assert isinstance(error, InvalidRequest)
        assert ROOT in str(error)
        assert "only its catalog knows" in str(error)
        assert "guess=True" in str(error)

    def test_a_guess_reads_the_highest_number_and_writes_nothing(self, bench: Bench) -> None:
        table = bench.open(guess=True)
        assert counts(table) == [1, 2]
        assert table.capabilities.read_only_because
        before = dict(bench.store.objects)
        with pytest.raises(Unsupported, match=r"00002-a\.gz\.metadata\.json"):
            table.stage(table.head(), UpgradeFormat(3))
        assert bench.store.objects == before

    def test_a_guess_compares_numbers(self, bench: Bench) -> None:
        bench.rename({"00002-a.gz.metadata.json": "100000-a.metadata.json"})
        bench.store.write(
            f"{FOLDER}/100000-a.metadata.json", gzip.decompress(bench.store.read(f"{FOLDER}/100000-a.metadata.json"))
        )
        assert counts(bench.open(guess=True)) == [1, 2]

    def test_there_is_nothing_to_guess_without_metadata(self) -> None:
        with pytest.raises(InvalidRequest, match="there is no table at memory://w/nothing"):
            Bench().open("memory://w/nothing", guess=True)


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "kind", "fact"),
        [
            ({"format_version": 4}, Unsupported, "is Iceberg format version 4; versions 1 to 3 are understood"),
            ({"format_version": 0}, CorruptTable, "has format-version 0"),
            ({"format_version": "2"}, CorruptTable, "has format-version '2'"),
            ({"format_version": None}, CorruptTable, "has format-version None"),
            ({"format_version": True}, CorruptTable, "has format-version True"),
            ({"encryption_keys": [{"key-id": "k"}]}, Unsupported, "has encryption-keys"),
            ({"location": None}, CorruptTable, "lacks or garbles a required part: KeyError('location')"),
            ({"schemas": None}, CorruptTable, "lacks or garbles a required part"),
            ({"schemas": [{"fields": "?"}]}, CorruptTable, "lacks or garbles a required part"),
            ({"current_schema_id": 9}, CorruptTable, "refers to schema 9, it has schemas 0"),
            ({"default_spec_id": 9}, CorruptTable, "names default partition spec 9, it has specs 0"),
            ({"current_snapshot_id": 77}, CorruptTable, "names current snapshot 77 and does not have it"),
            ({"snapshots": "?"}, CorruptTable, "lacks or garbles a required part"),
            ({"last_sequence_number": None}, CorruptTable, "has last-sequence-number None"),
            ({"last_sequence_number": "5"}, CorruptTable, "has last-sequence-number '5'"),
            ({"sort_orders": [], "default_sort_order_id": 4}, CorruptTable, "names sort order 4 as its default"),
            ({"properties": ["?"]}, CorruptTable, "lacks or garbles a required part"),
            ({"refs": "?"}, CorruptTable, "lacks or garbles a required part"),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_metadata_that_is_not_understood(self, changes: dict[str, Any], kind: type, fact: str) -> None:
        bench = Bench()
        bench.set(**changes)
        error = refused(bench)
        assert type(error) is kind
        assert f"{FOLDER}/v3.metadata.json" in str(error)
        assert fact in str(error)

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"\x1f\x8b broken gzip", gzip.compress(b"{}", mtime=0)[:-4]]
    )
    def test_a_metadata_file_that_is_damaged(self, content: bytes) -> None:
        bench = Bench()
        bench.store.write(f"{FOLDER}/v3.metadata.json", content)
        error = refused(bench)
        assert isinstance(error, CorruptTable)
        assert f"{FOLDER}/v3.metadata.json" in str(error)

    def test_a_metadata_file_that_is_missing(self) -> None:
        error = refused(Bench(), f"{FOLDER}/v9.metadata.json")
        assert isinstance(error, InvalidRequest)
        assert f"there is no metadata file {FOLDER}/v9.metadata.json" in str(error)

    @pytest.mark.parametrize(("pattern", "called"), [("/snap-", "manifest list"), ("-m0.avro", "manifest")])
    def test_a_manifest_or_list_that_is_missing(self, pattern: str, called: str) -> None:
        bench = Bench()
        location = bench.newest(pattern)
        bench.store.delete(location)
        error = refused(bench)
        assert isinstance(error, CorruptTable)
        assert f"{called} {location} of table {ROOT} is missing" in str(error)

    @pytest.mark.parametrize(("pattern", "called"), [("/snap-", "manifest list"), ("-m0.avro", "manifest")])
    @pytest.mark.parametrize("damage", ["empty", "no avro", "cut in the header", "cut at the end", "flipped"])
    def test_a_manifest_or_list_that_is_damaged(self, pattern: str, called: str, damage: str) -> None:
        bench = Bench()
        location = bench.newest(pattern)
        content = bench.store.read(location)
        middle = len(content) - 30
        damaged = {
            "empty": b"",
            "no avro": b"PAR1" + content[4:],
            "cut in the header": content[:200],
            "cut at the end": content[:-20],
            "flipped": content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :],
        }[damage]
        bench.store.write(location, damaged)
        error = refused(bench)
        assert isinstance(error, CorruptTable)
        assert f"{called} {location} is damaged" in str(error)

    def test_a_snapshot_that_names_no_manifest_list(self) -> None:
        bench = Bench()
        nodes = [
            {key: value for key, value in node.items() if key != "manifest-list"}
            for node in bench.document()["snapshots"]
        ]
        bench.set(snapshots=nodes)
        error = refused(bench)
        assert isinstance(error, CorruptTable)
        assert f"in {FOLDER}/v3.metadata.json names no manifest list" in str(error)

    def test_a_missing_manifest_of_the_first_writers_is_named(self) -> None:
        bench = Bench()
        nodes = [
            {key: value for key, value in node.items() if key != "manifest-list"}
            for node in bench.document()["snapshots"]
        ]
        bench.set(snapshots=[{**node, "manifests": ["x.avro"]} for node in nodes])
        error = refused(bench)
        assert isinstance(error, CorruptTable)
        assert "manifest x.avro" in str(error)
