"""UPGRADE: move a table to a newer version of its format; no row is touched."""

from dataclasses import dataclass

from lakewright.model.changes import Head, PendingCommit, UpgradeFormat


@dataclass(frozen=True)
class Upgrade:
    format_version: int


def prepare(request: Upgrade, head: Head) -> PendingCommit:
    return PendingCommit(head, UpgradeFormat(request.format_version))
