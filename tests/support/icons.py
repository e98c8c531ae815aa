"""The sprites of the checkout page: one symbol for each token, chain and wallet that a licence lets us draw.

``python -m tests.support.icons`` draws it anew from the npm package ``@web3icons/core`` (MIT). Nothing is fetched when
the page is served: the sprites are committed. Where a token has no icon here, the page shows its letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.support.npm import Package, fetch

FOLDER = Path(__file__).parents[2] / "api" / "static" / "payment"
WEB3ICONS = Package(
    "@web3icons/core",
    "4.0.56",
    "sha512-jyLkrMdfn6RTZ0+61Ap1AS2yeSG6WZ8mxZ61S3lu/CC0rJb4fgr2jw3W8aCDxhakEm/xqaEZqUmlZiTxCCs4yw==",
)
NOTICE = f"From {WEB3ICONS.spec}, (c) 0xa3k5, MIT licence: see NOTICE.md"
NETWORKS = {1: "ethereum", 10: "optimism", 137: "polygon", 8453: "base", 42161: "arbitrum-one"}
ROOMIER = {"base"}
"""Drawings that reach too far out for a disc: they get a wider ground, and all of it is shown."""
WALLETS = ("metamask", "coinbase", "trust", "okx")
WRAPPED = {"WETH": ("ETH", "#5b2a5e"), "WPOL": ("POL", "#2b1747")}
"""Wrapped coins: the coin's own drawing on another ground, so that the two are not taken for one another."""
OF_CHAIN = {"ARB": 42161}
"""Tokens whose drawing here is too long, and is the chain's."""
MAIN = {"ETH", "WETH", "POL", "WPOL", "USDC", "USDT", "DAI", "USDe", "PYUSD", "EURC", "WBTC", "ARB", "OP"}
"""What most people pay with: drawn in any case."""
FIRST = {"ETH", "USDC", "USDT"}
"""What the best ways to pay show as a rule, beside chains. Who sees the list fetches the other sprite too."""
MORE = "more-"
"""Begins the names in the other sprite."""
LONGEST = 350
"""Drawings of other tokens that have more characters are left out: each byte is waited for by every customer."""
PLACES = 1
GROUND, WIDE_GROUND = "M24 0H0v24h24z", "M28-4H-4v32h32z"
SIDE, APART = 24, 32
"""Of a drawing, and from the start of one to that of the next."""
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")


def draw_sprites() -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each sprite."""
    drawn = tuple(_draw_all())
    yield "icons.svg", _write_sprite(each for each in drawn if not each[0].startswith(MORE))
    yield "icons-more.svg", _write_sprite(each for each in drawn if each[0].startswith(MORE))
    yield "icons-wallets.svg", _write_file(_write_view(*each) for each in enumerate(WALLETS))


def _write_sprite(drawn: Iterable[tuple[str, str]]) -> str:
    return _write_file(_write_symbol(name, drawing) for name, drawing in drawn)


def _write_file(parts: Iterable[str]) -> str:
    content = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg">\n<!-- {NOTICE} -->\n{content}\n</svg>\n'


def _write_view(number: int, wallet: str) -> str:
    """Place a wallet's icon beside the others, under its name: a picture is loaded where somebody looks at it."""
    at = number * APART
    drawing = f'<g transform="translate({at})">{_draw("wallets", wallet)}</g>'
    return f'<view id="wallet-{wallet}" viewBox="{at} 0 {SIDE} {SIDE}"/>{drawing}'


def _write_symbol(name: str, drawing: str) -> str:
    view = "-4 -4 32 32" if WIDE_GROUND in drawing else "0 0 24 24"
    return f'<symbol id="{name}" viewBox="{view}">{drawing}</symbol>'


def _draw_all() -> Iterator[tuple[str, str]]:
    for chain_id in CHAINS:
        if chain_id in NETWORKS:
            yield f"chain-{chain_id}", _draw("networks", NETWORKS[chain_id])
    for info in token_registry.tokens():
        drawn, ground = WRAPPED.get(info.symbol, (info.symbol, None))
        chain_id = OF_CHAIN.get(drawn)
        drawing = _draw("networks", NETWORKS[chain_id]) if chain_id else _draw("tokens", drawn.upper())
        if ground:
            drawing = re.sub(r'fill="[^"]*"', f'fill="{ground}"', drawing, count=1)
        if drawing and (info.symbol in MAIN or len(drawing) <= LONGEST):
            yield ("" if info.symbol in FIRST else MORE) + info.symbol.lower(), drawing


def _draw(kind: str, name: str) -> str:
    """Return the shapes of one icon, which the page cuts round; nothing where the package has none that is plain.

    A ground that runs from one colour into another is drawn in the first; where a shape on it does, the icon is not
    plain.
    """
    file = fetch(WEB3ICONS) / "dist" / "svgs" / kind / "background" / f"{name}.svg.js"
    if not file.is_file():
        return ""
    text = file.read_text().replace("\\n", "")
    firsts = dict(re.findall(r'Gradient id="([^"]+)"[^>]*>\s*<stop[^>]*stop-color="([^"]+)"', text))
    shapes = re.findall(r"<(?:path|circle) [^>]*/>", re.sub(r"<defs>.*</defs>", "", text))
    ground = re.sub(r"url\(#([^)]+)\)", lambda found: firsts[found[1]], shapes[0])
    drawing = "".join(_minify(shape) for shape in (ground, *shapes[1:]))
    if name in ROOMIER:
        drawing = drawing.replace(GROUND, WIDE_GROUND)
    return "" if "url(" in drawing else drawing


def _minify(shape: str) -> str:
    """Round a shape's numbers to what can be seen, and leave out what is the default."""
    shape = re.sub(r' (?:clip-rule|fill-opacity)="[^"]*"', "", shape)
    shape = re.sub(r'fill="(#[0-9A-Fa-f]+)"', lambda found: f'fill="{found[1].lower()}"', shape)
    return re.sub(r' d="([^"]*)"', lambda found: f' d="{_round_path(found[1])}"', shape)


def _round_path(path: str) -> str:
    """Write a path's numbers with few places, and a space only where two would run together."""
    written = ""
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        written += command
        before = ""
        for number in NUMBER.findall(rest):
            short = f"{float(number):.{PLACES}f}".rstrip("0").rstrip(".")
            short = re.sub(r"^(-?)0\.", r"\1.", "0" if short == "-0" else short)
            is_apart = not before or short.startswith("-") or (short.startswith(".") and "." in before)
            written += short if is_apart else f" {short}"
            before = short
    return written


if __name__ == "__main__":
    for file, content in draw_sprites():
        (FOLDER / file).write_text(content, encoding="utf-8")
