"""The sprite of the page: which tokens and chains have an icon, what is in it, and how much it weighs."""

from __future__ import annotations

import gzip
import re
from xml.etree import ElementTree

import pytest

from api.checkout_page.devices import list_wallet_links
from api.checkout_page.look.avatars import (
    HUES,
    MORE,
    SPRITES,
    WALLET,
    dress_chain,
    dress_token,
    dress_wallet,
    list_icons,
)
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

SVG = "{http://www.w3.org/2000/svg}"
MAX_COMPRESSED = (2_000, 3_500, 900)
EXPECTED = {
    "ETH",
    "WETH",
    "POL",
    "WPOL",
    "USDC",
    "USDT",
    "DAI",
    "EURC",
    "PYUSD",
    "GHO",
    "WBTC",
    "ARB",
    "OP",
    "LINK",
    "AAVE",
}


@pytest.mark.parametrize("info", token_registry.tokens(), ids=lambda info: info.symbol)
def test_each_listed_token_has_its_icon_or_its_letter(info: token_registry.TokenInfo) -> None:
    for chain_id, address in info.addresses.items():
        look = dress_token(chain_id, address, info.symbol)
        names = {info.symbol.lower(), MORE + info.symbol.lower()}
        assert look["icon"] in {"", *names}
        assert (look["icon"] != "") == bool(names & list_icons())
        assert look["letter"] == info.symbol[0]
        assert look["hue"] in range(HUES)


def test_what_people_pay_with_has_an_icon() -> None:
    icons = {name.removeprefix(MORE) for name in list_icons()}
    assert {symbol for symbol in EXPECTED if symbol.lower() not in icons} == set()
    assert all(dress_chain(chain_id, chain.name)["icon"] == f"chain-{chain_id}" for chain_id, chain in CHAINS.items())
    assert all(link.avatar["icon"] for link in list_wallet_links("https://pay.example/payment/po_1"))


def test_bridged_dollars_are_not_drawn_as_dollars() -> None:
    for symbol in ("USDC.e", "USDbC"):
        info = token_registry.by_symbol(symbol)
        assert all(dress_token(*item, info.symbol)["icon"] == "" for item in info.addresses.items())


@pytest.mark.parametrize("symbol", ["USDC", "usdc", "chain-1", "wallet-metamask", 'usdc"><script>'])
def test_another_contract_gets_no_icon_by_its_name(symbol: str) -> None:
    assert dress_token(8453, f"0x{'66' * 20}", symbol)["icon"] == ""


def test_an_unknown_chain_or_wallet_has_a_letter() -> None:
    assert dress_chain(999_999, "Elsewhere")["icon"] == ""
    assert dress_wallet("nobody", "Nobody")["icon"] == ""


def test_the_sprites_are_small_and_hold_shapes_only() -> None:
    texts = [sprite.read_bytes() for sprite in SPRITES]
    assert all(len(gzip.compress(text, 9)) < most for text, most in zip(texts, MAX_COMPRESSED, strict=True))
    first, more, wallets = (list(ElementTree.fromstring(text)) for text in texts)
    assert [each.attrib["id"].startswith(MORE) for each in (*first, *more)] == [False] * len(first) + [True] * len(more)
    symbols = first + more
    assert {each.tag for each in symbols} == {f"{SVG}symbol"}
    views, drawings = wallets[::2], wallets[1::2]
    assert [(view.tag, drawing.tag) for view, drawing in zip(views, drawings, strict=True)] == [
        (f"{SVG}view", f"{SVG}g")
    ] * len(views)
    shapes = [shape for symbol in (*symbols, *drawings) for shape in symbol]
    assert {shape.tag for shape in shapes} <= {f"{SVG}path", f"{SVG}circle"}
    assert {name for shape in shapes for name in shape.attrib} <= {"d", "fill", "fill-rule", "cx", "cy", "r"}
    names = [each.attrib["id"] for each in (*symbols, *views)]
    assert len(names) == len(set(names)) == len(list_icons())
    listed = {info.symbol.lower() for info in token_registry.tokens()}
    assert all(view.attrib["id"].startswith(WALLET) for view in views)
    kinds = re.compile(f"chain-|{WALLET}")
    assert {name.removeprefix(MORE) for name in names if not kinds.match(name)} <= listed


@pytest.mark.parametrize("url", ["https://pay.example/payment/po_1", "https://pay.example:8443/shop/payment/po_a-b_c"])
def test_links_hold_the_address_of_the_page_and_nothing_else(url: str) -> None:
    links = {link.name: link.url for link in list_wallet_links(url)}
    encoded = url.replace(":", "%3A").replace("/", "%2F")
    assert links == {
        "MetaMask": f"https://link.metamask.io/dapp/{url.removeprefix('https://')}",
        "Base (Coinbase Wallet)": f"https://go.cb-w.com/dapp?cb_url={encoded}",
        "Trust Wallet": f"https://link.trustwallet.com/open_url?coin_id=60&url={encoded}",
        "OKX Wallet": "https://web3.okx.com/download?deeplink=okx%3A%2F%2Fwallet%2Fdapp%2Furl%3FdappUrl%3D"
        + encoded.replace("%", "%25"),
    }
