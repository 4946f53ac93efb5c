"""Which release of lakewright is this."""

__version__ = "0.1.0"
