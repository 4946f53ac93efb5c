"""lakewright beside its peers: `python peers.py run --add 'ours*=ours.py:OursIceberg'`."""

import os

import tables
from peers import Contender

import lakewright as lw


class OursIceberg(Contender):
    """What lakewright does not do yet stays with the base class, which says so."""

    format = "iceberg"

    def start(self, scratch):
        os.environ["SPARK_LOCAL_DIRS"] = scratch
        self.lake = lw.connect(catalog={"name": "warm", "type": "folder", "warehouse": f"{scratch}/warm"})
        self.lake.spark.range(1).collect()

    def create(self, data_dir, table_dir, variant):
        tables.make_iceberg(data_dir, table_dir, partitioned=variant == "part")
        self.attach(table_dir)

    def attach(self, table_dir):
        catalog = {
            "name": "bench",
            "type": "sql",
            "uri": f"sqlite:///{table_dir}/catalog.db",
            "warehouse": f"file://{table_dir}",
        }
        self.lake = lw.connect(spark=self.lake.spark, catalog=catalog)

    def scan_count_sum(self):
        return tuple(self.lake.table("b.t").to_df().selectExpr("count(*)", "sum(l_quantity)").collect()[0])

    def stop(self):
        self.lake.spark.stop()
