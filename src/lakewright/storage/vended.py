"""Which settings open a location of one table? The catalog's, and over them the credentials that it handed out."""

from dataclasses import dataclass
from threading import Lock

from lakewright.protocols import Clock, Credentials, CredentialSource

_ASKED_ANEW_BEFORE_MS = 30_000
_REMEMBERED_MAX = 64
_PARTS_OF_A_KEY = frozenset({"access-key-id", "secret-access-key", "session-token"})
_RENEWED: dict[CredentialSource, tuple[Credentials, ...]] = {}
_RENEWING = Lock()


@dataclass(frozen=True)
class Vended:
    """A value that workers can be sent: where credentials have expired, it asks their source for others."""

    credentials: tuple[Credentials, ...]
    source: CredentialSource
    clock: Clock

    def settings_for(self, location: str, settings: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """The settings with what was handed out over them. Parts of two different keys are never mixed."""
        merged = dict(settings)
        for given in self._valid(location):
            parts = {_aws_part(name) for name, _ in given.settings} - {None}
            replaced = parts | _PARTS_OF_A_KEY if parts & _PARTS_OF_A_KEY else parts
            merged = {name: value for name, value in merged.items() if _aws_part(name) not in replaced}
            merged |= dict(given.settings)
        return tuple(sorted(merged.items()))

    def _valid(self, location: str) -> tuple[Credentials, ...]:
        chosen = choose(self.credentials, location)
        if not self._has_expired(chosen):
            return chosen
        with _RENEWING:
            chosen = choose(_RENEWED.get(self.source, ()), location) or chosen
            if self._has_expired(chosen):
                chosen = choose(self._renewed(location), location)
        if self._has_expired(chosen):
            raise OSError(f"{location}: the catalog handed out credentials that have expired already; run it again")
        return chosen

    def _renewed(self, location: str) -> tuple[Credentials, ...]:
        try:
            renewed = self.source()
        except Exception as error:  # whatever a catalog's client raises, the objects cannot be reached
            raise OSError(
                f"{location}: the credentials that the catalog handed out have expired, and it gave no others: {error}; "
                "run it again"
            ) from error
        while len(_RENEWED) >= _REMEMBERED_MAX:
            del _RENEWED[next(iter(_RENEWED))]
        _RENEWED[self.source] = renewed
        return renewed

    def _has_expired(self, chosen: tuple[Credentials, ...]) -> bool:
        end = min((given.expires_at_ms for given in chosen if given.expires_at_ms is not None), default=None)
        return end is not None and self.clock.now_ms() >= end - _ASKED_ANEW_BEFORE_MS


def choose(credentials: tuple[Credentials, ...], location: str) -> tuple[Credentials, ...]:
    """What covers everything, then the one with the longest prefix of the location."""
    named = _one_scheme(location)
    matching = [given for given in credentials if given.prefix and named.startswith(_one_scheme(given.prefix))]
    longest = sorted(matching, key=lambda given: len(given.prefix))[-1:]
    return (*(given for given in credentials if not given.prefix), *longest)


def _one_scheme(location: str) -> str:
    scheme, separator, rest = location.partition("://")
    return f"s3{separator}{rest}" if scheme in ("s3a", "s3n") else location


def _aws_part(name: str) -> str | None:
    """What a setting of AWS is about: `s3.region` and `client.region` are two names of one."""
    group, _, part = name.partition(".")
    return part if group in ("s3", "client") else None
