"""Apache Iceberg tables, format versions 1 to 3."""
