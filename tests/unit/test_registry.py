"""The token registry and the chain descriptors state facts, consistently."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from routing_engine.errors import UnknownToken
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

FIVE_CHAINS = {1, 10, 137, 8453, 42161}
LISTS = ("uniswap_default_22.21.0.json", "sushiswap_default.json", "cow_coingecko_uniswap_per_chain.json")


@pytest.mark.rule("quotes.12")
def test_chains_are_the_five() -> None:
    assert set(CHAINS) == FIVE_CHAINS
    assert {chain.native_currency.symbol for chain in CHAINS.values()} == {"ETH", "POL"}
    assert CHAINS[137].native_currency.symbol == "POL"


@pytest.mark.parametrize("chain_id", sorted(FIVE_CHAINS))
def test_chain_agrees_with_the_registry(chain_id: int) -> None:
    chain = CHAINS[chain_id]
    native, wrapped = chain.native_token, chain.wrapped_native_token
    assert native.is_native
    assert native == token_registry.token(native.symbol, chain_id)
    assert wrapped == token_registry.token(wrapped.symbol, chain_id)
    assert wrapped.decimals == native.decimals
    info = token_registry.info_of(chain_id, chain.wrapped_native)
    assert info is not None
    assert "wrapped_native" in info.tags


def test_explorer_url_names_the_transaction() -> None:
    assert CHAINS[42161].explorer_url("0xab") == "https://arbiscan.io/tx/0xab"


def test_registry_is_large_enough_and_well_formed() -> None:
    infos = token_registry.tokens()
    assert len(infos) >= 40
    assert {chain_id for info in infos for chain_id in info.addresses} == FIVE_CHAINS
    for info in infos:
        assert info.addresses, info.symbol
        assert 0 <= info.decimals <= 18
        assert all(re.fullmatch(r"0x[0-9a-f]{40}", address) for address in info.addresses.values()), info.symbol
    for uri in [info.logo_uri for info in infos] + [chain.logo_uri for chain in CHAINS.values()]:
        assert urlsplit(uri).scheme == "https"
        assert "." in urlsplit(uri).netloc


def test_symbols_and_addresses_are_unique() -> None:
    infos = token_registry.tokens()
    assert Counter(info.symbol.casefold() for info in infos).most_common(1)[0][1] == 1
    assert Counter(item for info in infos for item in info.addresses.items()).most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("symbol", "chain_id", "address", "decimals"),
    [
        ("ETH", 1, NATIVE_ADDRESS, 18),
        ("POL", 137, NATIVE_ADDRESS, 18),
        ("USDC", 1, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", 6),
        ("USDC", 8453, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", 6),
        ("USDC.e", 42161, "0xff970a61a04b1ca14834a43f5de4533ebddb5cc8", 6),
        ("USDbC", 8453, "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca", 6),
        ("USDT", 10, "0x94b008aa00579c1307b0ef2c499ad98a8ce58e58", 6),
        ("WBTC", 42161, "0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f", 8),
        ("WETH", 137, "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619", 18),
    ],
)
def test_known_addresses(symbol: str, chain_id: int, address: str, decimals: int) -> None:
    token = token_registry.token(symbol, chain_id)
    assert (token.address, token.decimals, token.symbol) == (address, decimals, symbol)
    assert token_registry.info_of(chain_id, address.upper().replace("0X", "0x")) is token_registry.by_symbol(symbol)


@pytest.mark.rule("money.20", "money.21")
def test_native_and_bridged_tokens_are_told_apart() -> None:
    assert token_registry.by_symbol("ETH").chain_ids == (1, 10, 8453, 42161)
    assert token_registry.by_symbol("USDC").chain_ids == (1, 10, 137, 8453, 42161)
    assert "bridged" not in token_registry.by_symbol("USDC").tags
    assert {i.symbol for i in token_registry.tokens() if "bridged" in i.tags} == {"USDC.e", "USDbC"}
    assert {i.symbol for i in token_registry.tokens() if NATIVE_ADDRESS in i.addresses.values()} == {"ETH", "POL"}


def test_symbols_are_found_in_any_case() -> None:
    assert token_registry.by_symbol("usdc.E") is token_registry.by_symbol("USDC.e")


def test_unknown_names_say_so() -> None:
    with pytest.raises(UnknownToken, match="symbol: 'NOPE' is not a listed token; give its address instead"):
        token_registry.by_symbol("NOPE")
    with pytest.raises(UnknownToken, match="chain_id: OP is not known on chain 1; use one of 10"):
        token_registry.token("OP", 1)
    assert token_registry.info_of(1, "0x" + "1" * 40) is None


def test_importing_reads_no_file() -> None:
    code = (
        "import sys, routing_engine.model; opened = []\n"
        "def print_opened(): print(*sorted({each.rsplit('/')[-1] for each in opened if each.endswith('.json')}))\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "import routing_engine.reference.token_registry, routing_engine.reference.chains\n"
        "print_opened()\n"
        "routing_engine.reference.token_registry.tokens()\n"
        "print_opened()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    after_importing, after_asking = done.stdout.splitlines()
    assert after_importing == ""
    assert "tokens.json" in after_asking.split()


@pytest.mark.shared_data
def test_addresses_agree_with_public_lists(shared_data: Path) -> None:
    facts = shared_data / "facts"
    across = json.loads((facts / "chains_across.json").read_text())["chains"]
    listed: list[list[tuple[int, str, str, int]]] = [
        [(c["chainId"], t["address"].lower(), t["symbol"], t["decimals"]) for c in across for t in c["inputTokens"]]
    ]
    for name in LISTS:
        rows = json.loads((facts / name).read_text())["tokens"]
        listed.append([(t["chainId"], t["address"].lower(), t["symbol"], t["decimals"]) for t in rows])
    decimals: dict[tuple[int, str], list[int]] = defaultdict(list)
    for rows in listed:
        for key in {(chain_id, address, units) for chain_id, address, _, units in rows}:
            decimals[key[0], key[1]].append(key[2])

    contracts = [
        (info, chain_id, address)
        for info in token_registry.tokens()
        for chain_id, address in info.addresses.items()
        if address != NATIVE_ADDRESS
    ]
    for info, chain_id, address in contracts:
        assert set(decimals[chain_id, address]) == {info.decimals}, (info.symbol, chain_id)
    confirmed = sum(len(decimals[chain_id, address]) >= 2 for _, chain_id, address in contracts)
    assert confirmed / len(contracts) >= 0.75, f"only {confirmed} of {len(contracts)} stand in two lists"

    uniswap = {(chain_id, symbol): address for chain_id, address, symbol, _ in listed[1]}
    for info, chain_id, address in contracts:
        assert uniswap.get((chain_id, info.symbol), address) == address, (info.symbol, chain_id)


@pytest.mark.shared_data
def test_decimals_agree_with_the_long_list(shared_data: Path) -> None:
    with gzip.open(shared_data / "facts" / "decimals_map_all.json.gz", "rt") as file:
        rows = json.load(file)["rows"]
    known = {(chain_id, address.lower()): units for chain_id, address, _, units in rows}
    seen = [
        (info.symbol, info.decimals, known[item])
        for info in token_registry.tokens()
        for item in info.addresses.items()
        if item in known
    ]
    assert len(seen) >= 180
    assert [row for row in seen if row[1] != row[2]] == []
