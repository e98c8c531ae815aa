"""The picture of an order's life, drawn from the state machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from api.domain.orders import OPEN, TRANSITIONS, OrderStatus
from tests.support.guide.regions import GUIDE

PICTURE = GUIDE / "states.svg"
WIDTH, HEIGHT = 800, 404
BOX_WIDTH, BOX_HEIGHT = 116, 44
_S = OrderStatus
CENTRES: Mapping[OrderStatus, tuple[int, int]] = {
    _S.CREATED: (84, 116),
    _S.PROCESSING: (340, 116),
    _S.SUCCESS: (650, 48),
    _S.FAILED: (650, 184),
    _S.EXPIRED: (84, 268),
    _S.CANCELLED: (340, 268),
    _S.REFUNDED: (650, 340),
}
WAYS: Mapping[tuple[OrderStatus, OrderStatus], tuple[str, str, tuple[int, int]]] = {
    (_S.CREATED, _S.PROCESSING): ("M142 106 H278", "payment seen", (172, 98)),
    (_S.PROCESSING, _S.CREATED): ("M282 126 H146", "chain took it back", (162, 143)),
    (_S.CREATED, _S.EXPIRED): ("M60 138 V242", "time over", (68, 196)),
    (_S.CREATED, _S.CANCELLED): ("M110 138 L282 245", "you cancel", (162, 164)),
    (_S.PROCESSING, _S.CANCELLED): ("M340 138 V242", "you cancel", (347, 196)),
    (_S.EXPIRED, _S.PROCESSING): ("M142 268 C230 262 262 200 300 142", "paid within a day", (150, 288)),
    (_S.PROCESSING, _S.SUCCESS): ("M398 104 C480 96 520 52 588 48", "all there, confirmed", (400, 54)),
    (_S.PROCESSING, _S.FAILED): ("M398 128 C480 136 520 180 588 184", "time over, not all there", (456, 132)),
    (_S.PROCESSING, _S.REFUNDED): ("M374 138 C420 220 560 230 606 314", "", (0, 0)),
    (_S.SUCCESS, _S.REFUNDED): ("M708 52 C790 90 790 300 712 336", "", (0, 0)),
    (_S.FAILED, _S.REFUNDED): ("M650 206 V314", "", (0, 0)),
    (_S.EXPIRED, _S.REFUNDED): ("M84 290 C90 372 380 372 588 352", "", (0, 0)),
    (_S.CANCELLED, _S.REFUNDED): ("M398 276 C450 286 500 326 588 338", "", (0, 0)),
}
"""How each arrow runs, what it says, and where."""
CAPTION = (
    "blue: can still be paid; green, thick: deliver; grey, dashed: closed; "
    "each arrow to refunded: all that came was sent back"
)
STYLE = """
text{font:13px system-ui,sans-serif;fill:#1f2937}
.label{font-size:11.5px;fill:#475569}
.name{font-weight:600;text-anchor:middle}
.open{fill:#dbeafe;stroke:#2563eb}
.good{fill:#dcfce7;stroke:#15803d;stroke-width:3.5}
.closed{fill:#f1f5f9;stroke:#64748b;stroke-dasharray:6 4}
path{fill:none;stroke:#64748b;stroke-width:1.5;marker-end:url(#end)}
marker path{fill:#64748b;stroke:none;marker-end:none}
"""


def draw_states() -> str:
    """Return the picture as SVG.

    Raises
    ------
    KeyError
        If the state machine has a status or a change that has no place in the picture.
    """
    arrows = [(before, after) for before, afters in TRANSITIONS.items() for after in sorted(afters)]
    ways = "\n".join(f'<path d="{WAYS[each][0]}"/>' for each in arrows)
    words = "\n".join(_write_label(*WAYS[each][1:]) for each in arrows if WAYS[each][1])
    boxes = "\n".join(_draw_boxes())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
        "<title>The life of a payment order</title>\n"
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="end" markerWidth="9" markerHeight="9" refX="7" refY="4.5" orient="auto">'
        '<path d="M0 0.5 L8 4.5 L0 8.5 z"/></marker></defs>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>\n'
        f"{ways}\n{boxes}\n{words}\n"
        f'<text x="26" y="392" class="label">{CAPTION}</text>\n'
        "</svg>\n"
    )


def _draw_boxes() -> Iterator[str]:
    for status in OrderStatus:
        x, y = CENTRES[status]
        kind = "good" if status == _S.SUCCESS else "open" if status in OPEN else "closed"
        left, top = x - BOX_WIDTH // 2, y - BOX_HEIGHT // 2
        yield f'<rect x="{left}" y="{top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8" class="{kind}"/>'
        yield f'<text x="{x}" y="{y + 5}" class="name">{status}</text>'


def _write_label(text: str, place: tuple[int, int]) -> str:
    return f'<text x="{place[0]}" y="{place[1]}" class="label">{escape(text)}</text>'
