"""Do imports within the package point downward, and does nothing but `lake.py` see what stands behind the protocols?"""

from tests.architecture.source import PACKAGE, Import, Module, is_within

DOWNWARD = ("interfaces", "lake", "table", "operations", "commit", "planning", "protocols", "model", "errors")
ADAPTERS = ("formats", "engine", "storage", "testing", "system_clock")
SEEN_BY_ADAPTERS = ("protocols", "model", "errors")
SEEN_BY_ALL = ("_version",)
FORMATS = ("delta", "iceberg", "indextable")


def violations(module: Module) -> list[str]:
    """Imports between the package's own parts that the map of the design does not have."""
    if not is_within(module.name, PACKAGE):
        return []
    ours = [each for each in module.imports if is_within(each.name, PACKAGE)]
    reasons = ((each, _objection(module, each)) for each in ours)
    return [module.complaint(each.line, f"imports {each.name}: {why}") for each, why in reasons if why]


def _objection(module: Module, imported: Import) -> str:
    if not module.inner_name:
        return _objection_to_public_face(imported)
    here, there = _part(module.inner_name), _part(imported.name.removeprefix(PACKAGE).removeprefix("."))
    if here not in DOWNWARD + ADAPTERS + SEEN_BY_ALL:
        return f"{here!r} has no place in the order of layers"
    if there not in DOWNWARD + ADAPTERS + SEEN_BY_ALL:
        return "the package's public face is for its users; name the module that defines it"
    if here == there:
        return _objection_between_formats(module, imported)
    return _objection_to_direction(here, there)


def _objection_to_direction(here: str, there: str) -> str:
    if there in SEEN_BY_ALL:
        return ""
    if here in ADAPTERS:
        return "" if there in SEEN_BY_ADAPTERS else f"{here} sees only {', '.join(SEEN_BY_ADAPTERS)}"
    if there in ADAPTERS:
        return _objection_to_adapter(here, there)
    return "" if DOWNWARD.index(here) < DOWNWARD.index(there) else f"{here} lies below {there}"


def _objection_to_public_face(imported: Import) -> str:
    shows_adapter = _part(imported.name.removeprefix(f"{PACKAGE}.")) in ADAPTERS
    return "" if imported.is_lazy or not shows_adapter else "the public names of adapters resolve lazily"


def _objection_to_adapter(here: str, there: str) -> str:
    if there == "testing":
        return "nothing but testing sees testing"
    return "" if here == "lake" else f"only lake.py sees {there}"


def _objection_between_formats(module: Module, imported: Import) -> str:
    here, there = _format(module.name), _format(imported.name)
    return "" if there in ("", here) else f"no format sees another: {there}"


def _format(name: str) -> str:
    """Which format a module belongs to; empty for those that belong to none."""
    parts = name.removeprefix(f"{PACKAGE}.formats.").split(".")
    return parts[0] if parts[0] in FORMATS else ""


def _part(inner_name: str) -> str:
    return inner_name.partition(".")[0]
