"""What is it like to work with lakewright? A table is created, filled, read, and read as it was.

Run it with `make demo`. Everything happens in a folder that is removed at the end, so it can be run as often as you like.
"""

import os
from datetime import UTC, datetime
from tempfile import TemporaryDirectory

import pyarrow as pa

import lakewright as lw


def tour() -> None:
    say("Connect. A SQLite catalog and a warehouse under ./lakehouse; Spark starts when something needs it.")
    lake = lw.connect()

    say("Create an Apache Iceberg table, partitioned by region and by day.")
    orders = lake.create_table(
        "sales.orders",
        "id BIGINT NOT NULL, region STRING, ts TIMESTAMP, price DECIMAL(10, 2)",
        partitioned_by=["region", "day(ts)"],
        sorted_by=["id"],
    )
    print(orders)

    say("Append an Arrow table. No Spark is needed for that, and it takes milliseconds.")
    first = orders.append(
        pa.table(
            {
                "id": [1, 2, 3],
                "region": ["EU", "US", "EU"],
                "ts": [datetime(2026, 11, 1, hour, tzinfo=UTC) for hour in (9, 10, 11)],
                "price": pa.array(["19.90", "5.00", "129.00"]).cast(pa.decimal128(10, 2)),
            }
        ),
        summary={"batch": "monday"},
    )
    print(first)

    say("Start the local Spark session, with its usual greetings. An existing one can be passed to connect().")
    spark = lake.spark

    say("Append a Spark DataFrame. Columns go by their names; a missing one becomes NULL.")
    more = spark.range(4, 1_004).selectExpr("id", "IF(id % 2 = 0, 'EU', 'US') AS region", "id / 4 AS price")
    print(orders.append(more.selectExpr("id", "region", "CAST(price AS DECIMAL(10, 2)) AS price")))

    say("What does not fit is refused before anything is visible, and the message says what to do.")
    try:
        orders.append(more)
    except lw.InvalidRequest as refused:
        print(f"InvalidRequest: {refused}")

    say("Read. Files that cannot hold a match are never opened; the result is a lazy Spark DataFrame.")
    orders.to_df(where="region = 'EU' AND ts >= '2026-11-01'").orderBy("id").show()
    orders.to_df().groupBy("region").count().orderBy("region").show()

    say("Travel in time: the table as it was after the first append.")
    for entry in orders.history():
        print(f"{entry.version:<20}  {entry.operation}  {entry.summary['added-records']:>5} rows added")
    orders.at(version=first.version).to_df().orderBy("id").show()

    say("The same table, as it is now. DuckDB, pyiceberg and other engines open it by its metadata file.")
    print(orders)
    print(os.path.relpath(orders.metadata_location.removeprefix("file://")))


def say(sentence: str) -> None:
    """In bold, where that can be seen."""
    bold, plain = ("\033[1m", "\033[0m") if os.isatty(1) else ("", "")
    print(f"\n{bold}» {sentence}{plain}\n", flush=True)


if __name__ == "__main__":
    with TemporaryDirectory(prefix="lakewright-demo-") as folder:
        os.chdir(folder)
        tour()
        os.chdir("/")
