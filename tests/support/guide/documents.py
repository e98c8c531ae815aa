"""The guide's documents as they should be."""

from __future__ import annotations

from pathlib import Path

from tests.clients.generation.service_document import read_service_document
from tests.support.guide import tables
from tests.support.guide.operations import write_objects, write_operations, write_overview
from tests.support.guide.picture import PICTURE, draw_states
from tests.support.guide.regions import GUIDE, fill_regions, list_regions
from tests.support.guide.states import write_states


def write_guide() -> dict[Path, str]:
    """Return the text of every document with written parts, and of the picture, by path."""
    document = read_service_document()
    parts = {
        "states": write_states(),
        "scenarios": tables.write_scenarios(),
        "errors": tables.write_errors(),
        "events": tables.write_events(),
        "retries": tables.write_retries(),
        "limits": tables.write_limits(),
        "sizes": tables.write_sizes(),
        "overview": write_overview(document),
        "operations": write_operations(document),
        "objects": write_objects(document),
    }
    written = {PICTURE: draw_states()}
    used: set[str] = set()
    for path in sorted(GUIDE.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if names := list_regions(text):
            used |= set(names)
            written[path] = fill_regions(text, parts)
    if unused := parts.keys() - used:
        raise ValueError(f"No document has a place for {', '.join(sorted(unused))}")
    return written
