"""Recorded Bancor pools and the recorded vault: all load, conform, and agree with the market around them."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from math import log

import pytest

from adapters.testing import check_market
from routing_engine.markets import BancorPool, pool_readers
from routing_engine.markets.common.pool_fields import read_tokens
from routing_engine.snapshot.snapshot import Snapshot
from routing_engine.token_fields import Transfers
from tests.support.tolerances import tolerances

pytestmark = pytest.mark.shared_data

BANCOR = "eth_bancor_v21_19337522.json"
VAULT = "eth_fynd_24721174"


def test_every_bancor_pool_loads_and_conforms(shared_data):
    snapshot = Snapshot.load(shared_data / "markets" / BANCOR, accept=[Transfers.REBASING])
    pools = [market for market in snapshot.markets.values() if isinstance(market, BancorPool)]
    assert len(pools) == 270
    for pool in pools:
        check_market(pool, samples=2, **tolerances(pool))


def test_deep_bancor_pools_agree_about_the_dollar(shared_data):
    """BNT is worth the same against DAI, USDC and USDT, within both fees and what small pools drift."""
    snapshot = Snapshot.load(shared_data / "markets" / BANCOR)
    found = {}
    for pool in snapshot.markets.values():
        for token in pool.tokens:
            if token.symbol in ("DAI", "USDC", "USDT"):
                bnt = next(other for other in pool.tokens if other != token)
                depth = pool.reserve0 if pool.token0 == token else pool.reserve1
                if depth > 10_000 * 10**token.decimals:
                    scale = 10.0 ** (bnt.decimals - token.decimals)
                    ahead, back = pool.spot_price(bnt, token), pool.spot_price(token, bnt)
                    found[token.symbol] = log(ahead * scale / (back / scale)) / 2
    assert len(found) >= 2
    assert max(found.values()) - min(found.values()) < 0.03


def test_the_recorded_vault_gains_the_same_with_every_block(shared_data):
    """Its rate is the longer of the two recorded answers: only so do the steps of seven blocks come out equal."""
    with gzip.open(shared_data / "markets" / f"{VAULT}.json.gz") as file:
        records = [record for record in json.load(file)["pools"] if record["type"] == "erc4626"]
    with gzip.open(shared_data / "markets" / f"{VAULT}_block_deltas.json.gz") as file:
        blocks = json.load(file)["blocks"]
    records += [record for block in blocks for record in block["changed"] if record["type"] == "erc4626"]
    vaults = [pool_readers()["erc4626"](record, record["id"], read_tokens(record)) for record in records]
    prices = [vault.spot_price(vault.share, vault.asset) for vault in vaults]
    steps = [after / before - 1 for before, after in pairwise(prices)]
    assert len(steps) == 7
    assert max(steps) == pytest.approx(min(steps), rel=1e-6)
    assert 0.03 < steps[0] * 365.25 * 86_400 / 12 < 0.05
    for vault in vaults:
        check_market(vault)
