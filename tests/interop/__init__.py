"""Do other engines agree with us? Apache Iceberg's own Spark runtime judges, in an environment of its own."""
