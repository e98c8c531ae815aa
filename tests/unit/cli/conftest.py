"""A small market in the neutral format, and a way to run commands on it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from routing_engine.amm.concentrated.tick_math import tick_at_sqrt_ratio
from routing_engine.cli.app import cli

WETH = {"address": "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "symbol": "WETH", "decimals": 18}
USDC = {"address": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "symbol": "USDC", "decimals": 6}
DAI = {"address": "0x6b175474e89094c44da98b954eedeac495271d0f", "symbol": "DAI", "decimals": 18}
EVIL = {"address": "0x" + "f" * 40, "symbol": "[red]\x1b[31mEVIL", "decimals": 0}
LONE = {"address": "0x" + "1" * 40, "symbol": "LONE", "decimals": 18}
ISLE = {"address": "0x" + "2" * 40, "symbol": "ISLE", "decimals": 18}
BLOCK = 100
RESERVES = (1_000 * 10**18, 2_000_000 * 10**6)
"""WETH and USDC of the constant-product pool."""


def cpmm(name: str, first: dict[str, Any], second: dict[str, Any], reserves: tuple[int, int]) -> dict[str, Any]:
    """Return a constant-product pool of 30 bps."""
    return {
        "id": f"1:{name}",
        "chain_id": 1,
        "protocol": "uniswap_v2",
        "type": "cpmm",
        "tokens": [first, second],
        "reserves": [str(amount) for amount in reserves],
        "fee": "0.003",
    }


def clmm() -> dict[str, Any]:
    """Return a concentrated pool of USDC and DAI at a price of one, 1 bp, with liquidity 1 % around it."""
    sqrt_price = 10**6 * 2**96
    tick = tick_at_sqrt_ratio(sqrt_price)
    return {
        "id": "1:clmm",
        "chain_id": 1,
        "protocol": "uniswap_v3",
        "type": "clmm",
        "tokens": [USDC, DAI],
        "fee": "0.0001",
        "sqrt_price_x96": str(sqrt_price),
        "tick": tick,
        "tick_spacing": 1,
        "liquidity": str(10**20),
        "ticks": [[tick - 100, str(10**20)], [tick + 100, str(-(10**20))]],
    }


def market() -> dict[str, Any]:
    """Return five pools that load and three that are refused."""
    return {
        "meta": {"chain_id": 1, "block": BLOCK},
        "pools": [
            cpmm("pair", WETH, USDC, RESERVES),
            cpmm("other", WETH, DAI, (100 * 10**18, 200_000 * 10**18)),
            cpmm("evil", EVIL, USDC, (10**9, 10**12)),
            cpmm("isle", LONE, ISLE, (10**20, 10**20)),
            clmm(),
            {"id": "1:weighted", "chain_id": 1, "type": "no_such_type", "protocol": "x", "tokens": [WETH, USDC]},
            cpmm("empty", WETH, USDC, (0, 0)),
            clmm() | {"id": "1:no-ticks", "ticks": None},
        ],
    }


REFUSED = {"unsupported_type:no_such_type": 1, "empty": 1, "ticks_unknown": 1}


def deltas() -> dict[str, Any]:
    """Return two blocks after the market's: the pair grows, then the pair shrinks and another pool closes."""
    grown, shrunk = ((RESERVES[0] * n // 2, RESERVES[1] * n // 2) for n in (4, 1))
    return {
        "meta": {"chain_id": 1},
        "blocks": [
            {"block": BLOCK + 1, "changed": [cpmm("pair", WETH, USDC, grown)]},
            {
                "block": BLOCK + 2,
                "changed": [cpmm("pair", WETH, USDC, shrunk), cpmm("other", WETH, DAI, (0, 0))],
            },
        ],
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, object], Path]:
    """Return a function that writes a JSON file and gives its path; compressed if its name ends in ``.gz``."""

    def write_json(name: str, document: object) -> Path:
        data = json.dumps(document).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_json


@pytest.fixture
def market_file(write: Callable[[str, object], Path]) -> Path:
    """Return the file of `market`."""
    return write("market.json.gz", market())


@pytest.fixture
def run() -> Callable[..., Result]:
    """Return a function that runs ``routing-engine`` with the given arguments in this process."""

    def invoke(*arguments: object) -> Result:
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return invoke
