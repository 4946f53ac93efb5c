"""Does every store keep every promise of `ObjectStore`?"""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakewright.protocols import ObjectStore, StoredObject
from tests.unit.storage.conftest import Place

UNUSUAL_NAMES = (
    "a b.bin",
    "100%.bin",
    "a%20b.bin",
    "a#b.bin",
    "größe-雪.bin",
    "a+b.bin",
    "region=EU/part-0.bin",
    "key=a%2Fb/x.bin",
    "a?b.bin",
    "a&b;c,d@e!.bin",
    "[x]{y}*.bin",
    "'quoted' \"twice\".bin",
    "back\\slash.bin",
    "colon:here.bin",
    "~tilde^caret`|pipe.bin",
    "..dots...bin",
    "_hidden/.bin",
)
LARGE = 11 << 20
"""More than what is held back before an upload begins."""


def test_what_is_written_is_read(place: Place) -> None:
    place.store.write(f"{place.folder}/x", b"content")
    assert place.store.read(f"{place.folder}/x") == b"content"
    assert place.store.exists(f"{place.folder}/x")


def test_writing_again_replaces(place: Place) -> None:
    for content in (b"a long content", b"short", b""):
        place.store.write(f"{place.folder}/x", content)
        assert place.store.read(f"{place.folder}/x") == content


def test_a_missing_object_is_told_as_such(place: Place) -> None:
    missing = f"{place.folder}/not here"
    for act in (place.store.read, place.store.open):
        with pytest.raises(FileNotFoundError):
            act(missing)
    assert not place.store.exists(missing)
    place.store.delete(missing)


def test_a_folder_is_no_object(place: Place) -> None:
    place.store.write(f"{place.folder}/inner/x", b"1")
    assert not place.store.exists(f"{place.folder}/inner")
    assert not place.store.exists(f"{place.folder}/inner/")


def test_a_deleted_object_is_gone(place: Place) -> None:
    place.store.write(f"{place.folder}/x", b"1")
    place.store.write(f"{place.folder}/xy", b"2")
    place.store.delete(f"{place.folder}/x")
    assert not place.store.exists(f"{place.folder}/x")
    assert [each.location for each in place.store.list(place.folder)] == [f"{place.folder}/xy"]


def test_only_the_first_put_if_absent_counts(place: Place) -> None:
    location = f"{place.folder}/deep/er/v1"
    assert place.store.put_if_absent(location, b"first") is True
    assert place.store.put_if_absent(location, b"second") is False
    assert place.store.read(location) == b"first"
    assert [each.location for each in place.store.list(place.folder)] == [location]


def test_put_if_absent_leaves_alone_what_was_written_otherwise(place: Place) -> None:
    place.store.write(f"{place.folder}/v1", b"written")
    assert place.store.put_if_absent(f"{place.folder}/v1", b"put") is False
    assert place.store.read(f"{place.folder}/v1") == b"written"


def test_of_many_who_put_at_once_one_wins(place: Place) -> None:
    contents = [f"by {number}".encode() * 1000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda content: place.store.put_if_absent(f"{place.folder}/v1", content), contents))
    assert won.count(True) == 1
    assert place.store.read(f"{place.folder}/v1") == contents[won.index(True)]


def test_a_created_object_appears_when_it_is_closed(place: Place) -> None:
    location = f"{place.folder}/deep/x"
    sink = place.store.create(location)
    sink.write(b"one, ")
    assert sink.tell() == len(b"one, ")
    sink.write(b"two")
    sink.flush()
    assert (sink.writable(), sink.closed) == (True, False)
    assert not place.store.exists(location)
    assert list(place.store.list(place.folder)) == []
    sink.close()
    sink.close()
    assert sink.closed
    assert place.store.read(location) == b"one, two"


def test_a_created_object_without_content_exists(place: Place) -> None:
    with place.store.create(f"{place.folder}/empty"):
        pass
    assert place.store.read(f"{place.folder}/empty") == b""


@pytest.mark.parametrize("size", [10, LARGE])
def test_an_object_left_by_an_exception_never_appears(place: Place, size: int) -> None:
    place.store.write(f"{place.folder}/before", b"stays")
    for location in (f"{place.folder}/x", f"{place.folder}/before"):
        with pytest.raises(KeyError):
            _leave(place.store, location, b"x" * size)
    assert list(place.store.list(place.folder)) == [StoredObject(f"{place.folder}/before", 5)]
    assert place.store.read(f"{place.folder}/before") == b"stays"


def test_a_large_object_comes_back_whole(place: Place) -> None:
    parts = [bytes([number]) * (LARGE // 3) for number in range(4)]
    with place.store.create(f"{place.folder}/large") as sink:
        for part in parts:
            sink.write(part)
        assert sink.tell() == sum(map(len, parts))
    assert place.store.read(f"{place.folder}/large") == b"".join(parts)


def test_parts_of_an_object_are_read_where_they_are_asked_for(place: Place) -> None:
    place.store.write(f"{place.folder}/x", bytes(range(100)))
    with place.store.open(f"{place.folder}/x") as source:
        assert source.seekable()
        assert source.readable()
        source.seek(10)
        assert bytes(source.read(3)) == bytes([10, 11, 12])
        assert source.tell() == 13
        source.seek(-2, 2)
        assert bytes(source.read()) == bytes([98, 99])
        assert bytes(source.read(5)) == b""
        source.seek(0)
        source.seek(5, 1)
        assert bytes(source.read(1)) == bytes([5])


def test_arrow_writes_and_reads_through_a_store(place: Place) -> None:
    rows = pa.table({"x": list(range(1000))})
    with place.store.create(f"{place.folder}/x.parquet") as sink:
        pq.write_table(rows, sink, row_group_size=100)
    with place.store.open(f"{place.folder}/x.parquet") as source:
        assert pq.ParquetFile(source).read_row_group(3)["x"].to_pylist() == list(range(300, 400))


def test_all_objects_below_a_folder_are_listed_in_the_order_of_their_locations(place: Place) -> None:
    names = ["b", "a/x", "a.y", "a-z", "a/w/deep", "B", "a0", "ä", "c/1", "c/10", "c/9"]
    for name in names:
        place.store.write(f"{place.folder}/{name}", name.encode())
    place.store.write(f"{place.folder}2/no", b"in a folder whose name begins alike")
    expected = sorted(f"{place.folder}/{name}" for name in names)
    for prefix in (place.folder, f"{place.folder}/"):
        listed = list(place.store.list(prefix))
        assert [each.location for each in listed] == expected
        assert sum(each.size_bytes for each in listed) == len("".join(names).encode())
    assert [each.location for each in place.store.list(f"{place.folder}/a")] == [
        f"{place.folder}/a/w/deep",
        f"{place.folder}/a/x",
    ]


def test_a_folder_that_is_not_there_has_no_objects(place: Place) -> None:
    assert list(place.store.list(f"{place.folder}/nothing")) == []
    place.store.write(f"{place.folder}/x", b"1")
    assert list(place.store.list(f"{place.folder}/x")) == []


@pytest.mark.parametrize("name", UNUSUAL_NAMES)
def test_a_name_means_itself(place: Place, name: str) -> None:
    location, other = f"{place.folder}/{name}", f"{place.folder}/put/{name}"
    with place.store.create(location) as sink:
        sink.write(name.encode())
    assert place.store.put_if_absent(other, b"") is True
    assert place.store.put_if_absent(other, b"") is False
    assert place.store.exists(location)
    assert place.store.read(location) == name.encode()
    with place.store.open(location) as source:
        assert bytes(source.read()) == name.encode()
    assert [each.location for each in place.store.list(place.folder)] == sorted((location, other))
    place.store.delete(location)
    assert [each.location for each in place.store.list(place.folder)] == [other]


def test_names_that_decode_to_each_other_are_two_objects(place: Place) -> None:
    names = ("a b", "a%20b", "a+b", "a%2520b", "a%2Fb", "é", "e\u0301")
    for name in names:
        place.store.write(f"{place.folder}/{name}", name.encode())
    assert {name: place.store.read(f"{place.folder}/{name}").decode() for name in names} == dict(
        zip(names, names, strict=True)
    )
    assert len(list(place.store.list(place.folder))) == len(names)


def test_a_store_that_was_sent_reaches_the_same_objects(place: Place) -> None:
    place.store.write(f"{place.folder}/x", b"here")
    if place.is_sent_as_a_value:
        sent = pickle.loads(pickle.dumps(place.store))
        assert sent == place.store
        assert sent.read(f"{place.folder}/x") == b"here"
    else:
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(place.store)


def _leave(store: ObjectStore, location: str, content: bytes) -> None:
    with store.create(location) as sink:
        sink.write(content)
        raise KeyError
