"""Do Spark's workers reach objects with what a REST catalog handed out, and ask it for more when that has ended?"""

from typing import TYPE_CHECKING

import lakewright
from lakewright.system_clock import SystemClock
from tests.catalogs.bucket import Bucket
from tests.catalogs.rest_metadata import Json
from tests.catalogs.rest_server import RestServer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AN_HOUR_MS, A_SECOND_TOO_LONG_MS = 3_600_000, 31_000
"""Keys are asked for anew half a minute before they end."""


def test_workers_use_what_the_catalog_hands_out_and_ask_for_more_when_it_has_ended(spark: "SparkSession") -> None:
    keys: list[str] = []
    lives_ms = [AN_HOUR_MS]
    with Bucket() as bucket, RestServer("s3://shop/wh", files=bucket) as server:

        def vend(location: str) -> Json:
            keys.append(f"key{len(keys)}")
            bucket.opens[f"{keys[-1]}/token"] = location
            config = {
                "s3.access-key-id": keys[-1],
                "s3.secret-access-key": "secret",
                "s3.session-token": "token",
                "s3.session-token-expires-at-ms": str(SystemClock().now_ms() + lives_ms[0]),
            }
            return {"storage-credentials": [{"prefix": location, "config": config}]}

        server.vend = vend
        place = {"s3.endpoint": bucket.endpoint, "s3.region": "eu-north-1"}
        lake = lakewright.connect(spark=spark, catalog={"name": "shop", **server.properties(), **place})
        orders = lake.create_table("sales.orders", "id BIGINT, region STRING")
        orders.append(spark.range(10).selectExpr("id", "'EU' AS region"))
        lives_ms[0] = A_SECOND_TOO_LONG_MS
        frame = orders.to_df(where="id > 3")
        keys_of_the_driver = len(keys)
        lives_ms[0] = AN_HOUR_MS
        SystemClock().sleep(1.5)
        bucket.opens.clear()
        assert sorted(row.id for row in frame.collect()) == [4, 5, 6, 7, 8, 9]
        assert len(keys) > keys_of_the_driver
        assert bucket.refused == []
