"""Where an answer's processor time goes, as a picture: ``python -m benchmarks.load.flames ROW FILE.svg``.

Asks the application itself, on one thread, and looks a thousand times a second of processor time what it is doing. A
box is as wide as its part of the time; what is below calls what stands on it. Run it with another tree first on
PYTHONPATH, and it draws that one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from html import escape
from io import BytesIO
from pathlib import Path
from types import FrameType

from werkzeug.test import EnvironBuilder

EVERY_S = 0.001
WIDTH, HEIGHT, LETTER = 1000, 17, 5.6
LEAST_SHARE = 0.006
"""Boxes that are narrower are left out, and what stands on them."""
COLOURS = {"api": "#f4a261", "sqlalchemy": "#8ecae6", "other": "#d9d9d9", "flask": "#cdb4db", "marshmallow": "#b7e4c7"}
FAMILIES = {"werkzeug": "flask", "flask_smorest": "flask", "webargs": "marshmallow", "flask_limiter": "flask"}

Stack = tuple[str, ...]
Box = tuple[int, float, float, str]


def main() -> None:
    """Sample and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load.flames", description=__doc__)
    parser.add_argument("row", choices=("orders", "reads", "page"))
    parser.add_argument("picture", type=Path)
    parser.add_argument("--answers", type=int, default=3_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ask = _open_service(Path(folder), options.row)
        for _ in range(100):
            ask()
        began = os.times()
        stacks = _sample(ask, options.answers)
        spent = os.times()
    cpu_ms = (spent.user + spent.system - began.user - began.system) * 1000 / options.answers
    title = f"{options.row}: {cpu_ms:.2f} ms of processor time for an answer, on one thread"
    options.picture.write_text(draw(stacks, title))
    print(title)
    os._exit(0)  # what else the service has begun needs no end


def draw(stacks: Counter[Stack], title: str) -> str:
    """Draw stacks and how often each was seen, as an SVG picture."""
    boxes = list(_list_boxes(stacks))
    depth = max(level for level, *_ in boxes) + 1
    height = (depth + 2) * HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"',
        ' font-family="sans-serif" font-size="10">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="4" y="13" font-size="12">{escape(title)}</text>',
    ]
    for level, start, share, name in boxes:
        x, width, y = start * WIDTH, share * WIDTH, height - (level + 1) * HEIGHT
        shown = name if len(name) * LETTER < width else name[: max(0, int(width / LETTER) - 1)]
        parts.append(
            f'<g><title>{escape(name)} {share:.1%}</title><rect x="{x:.1f}" y="{y}" width="{width:.1f}" '
            f'height="{HEIGHT - 1}" fill="{_choose_colour(name)}"/>'
            f'<text x="{x + 2:.1f}" y="{y + 12}">{escape(shown)}</text></g>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _open_service(folder: Path, row: str) -> Callable[[], object]:
    os.environ.update({f"RATE_LIMIT_{name}": "1000000" for name in ("KEY", "ROUTING", "KEYLESS", "PAGE")})
    os.environ["DATA_DIR"] = str(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # the log is written, to nobody
    from api import create_app
    from api.config import Config
    from api.context import get_resources_of
    from api.logs import configure_logging
    from api.startup.demo_key import keep_demo_key
    from api.startup.up import make_demo_link
    from api.storage.migrations import upgrade
    from benchmarks.load.__main__ import LINK

    configure_logging("INFO")
    app = create_app(Config.from_env())
    resources = get_resources_of(app)
    upgrade(resources.database.engine)
    key, order = keep_demo_key(resources).text, make_demo_link(resources).rpartition("/")[2]
    body = json.dumps(LINK).encode() if row == "orders" else b""
    path = {"orders": "/api/v1/payment_link", "reads": f"/api/v1/payment/{order}", "page": f"/payment/{order}"}[row]
    asked = EnvironBuilder(path, method="POST" if body else "GET", headers={"X-Api-Key": key}, data=body)
    asked.content_type = "application/json" if body else None
    environ = asked.get_environ()

    def ask() -> None:
        answer = app.wsgi_app({**environ, "wsgi.input": BytesIO(body)}, lambda *_: lambda _: None)
        b"".join(answer)
        answer.close()

    return ask


def _sample(ask: Callable[[], object], answers: int) -> Counter[Stack]:
    """Return what was seen at each tick of this process's processor time, the outermost call first."""
    seen: Counter[Stack] = Counter()

    def look(_signal: int, frame: FrameType | None) -> None:
        seen[_read_stack(frame)] += 1

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    for _ in range(answers):
        ask()
    signal.setitimer(signal.ITIMER_PROF, 0)
    return seen


def _read_stack(frame: FrameType | None) -> Stack:
    """Return the calls within the application; several of one module in a row count as one box."""
    names: list[str] = []
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        name = f"{module}.{frame.f_code.co_name}" if module.startswith("api.") else module
        if not names or names[-1] != name:
            names.append(name)
        if module == "flask.app" and frame.f_code.co_name == "wsgi_app":
            return tuple(reversed(names))
        frame = frame.f_back
    return ("client",)


def _list_boxes(
    stacks: Counter[Stack], level: int = 0, start: float = 0.0, whole: int = 0
) -> Iterator[tuple[int, float, float, str]]:
    """Yield level, place, share and name of each box; those of one caller lie beside each other, by name."""
    whole = whole or stacks.total()
    below: dict[str, Counter[Stack]] = {}
    for stack, count in stacks.items():
        if stack:
            below.setdefault(stack[0], Counter())[stack[1:]] += count
    for name, inner in sorted(below.items()):
        share = inner.total() / whole
        if share >= LEAST_SHARE:
            yield level, start, share, name
            yield from _list_boxes(inner, level + 1, start, whole)
        start += share


def _choose_colour(name: str) -> str:
    package = name.partition(".")[0]
    colour = COLOURS.get(FAMILIES.get(package, package), COLOURS["other"])
    shade = zlib.crc32(name.encode()) % 24  # so that neighbours differ
    return "#" + "".join(f"{max(0, int(colour[at : at + 2], 16) - shade):02x}" for at in (1, 3, 5))


if __name__ == "__main__":
    main()
