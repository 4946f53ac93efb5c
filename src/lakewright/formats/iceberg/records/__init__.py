"""What do the bytes of Iceberg's metadata say? Table metadata (JSON), manifest lists and manifests (Avro)."""
