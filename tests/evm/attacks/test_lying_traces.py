"""Two endpoints of which one gives traces that name another order, and the other gives none for that transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.attacks import BASE, run
from tests.support.databases import Databases
from tests.support.lying_rpc import Lie, LyingRpc, lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import chain_shop, transfer_data
from tests.support.vyper_source import compiled

DOLLARS = 900
"""So little that it need not be final, which several endpoints would have to agree on first."""
PAUSE_S = 61
"""After which what could not be proven is tried again."""
TRACE = "debug_traceTransaction"


@pytest.fixture
def endpoints(nets: Mapping[int, MainNet]) -> Iterator[tuple[LyingRpc, LyingRpc]]:
    """The liar, and an honest one that can't trace."""
    with lying_rpc(nets[BASE].chain.url) as liar, lying_rpc(nets[BASE].chain.url, refuse) as honest:
        yield liar, honest


def refuse(method: str, _: list[Any], answer: Any) -> Any:
    """Give no trace."""
    return None if method == TRACE else answer


def rename(old: bytes, new: bytes) -> Lie:
    """Change what inner calls of a true trace were given; the transaction's own call and all events stay."""

    def lie(method: str, _: list[Any], answer: Any) -> Any:
        if method == TRACE and isinstance(answer, dict):
            rename_calls(answer)
        return answer

    def rename_calls(frame: dict[str, Any]) -> None:
        for each in frame.get("calls") or ():
            if each["input"].endswith(old.hex()):
                each["input"] = each["input"].removesuffix(old.hex()) + new.hex()
            rename_calls(each)

    return lie


@pytest.mark.rule("evidence.4")
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("is_late", [True, False])
def test_a_large_payment_is_not_renamed_by_one_trace(
    nets: Mapping[int, MainNet],
    endpoints: tuple[LyingRpc, LyingRpc],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    databases: Databases,
    is_first: bool,
    is_late: bool,
) -> None:
    """That a transfer happened was seen by both; whose it is was the liar's word alone, and was taken for theirs.

    Also where the liar gives no trace at first, so that both have agreed on a transfer that is nobody's.
    """
    net, liar = nets[BASE], endpoints[0]
    urls = {BASE: tuple(each.url for each in (endpoints if is_first else endpoints[::-1]))}
    with ExitStack() as stack:
        lent = databases.lend("sqlite")
        shop = stack.enter_context(chain_shop(nets, tmp_path, request.node.name, lent, endpoints=urls))
        config = shop.shop.resources.config
        doubting = replace(config, confirmations=replace(config.confirmations, doubted_above=DOLLARS - 1))
        shop = replace(shop, shop=replace(shop.shop, resources=replace(shop.shop.resources, config=doubting)))
        shop.look(1)
        price = {"amount": DOLLARS * 10**6, "decimals": 6, "currency": "USDC"}
        (victims, reference), (thiefs, stolen) = shop.order(order_price=price), shop.order(order_price=price)
        liar.lies.append(refuse if is_late else rename(reference, stolen))
        account = net.chain.deploy(compiled("runner"))
        net.fund(account.address, "USDC", DOLLARS * 10**6)
        data = transfer_data(shop.address, DOLLARS * 10**6) + reference
        shop.customer(BASE, "owner").send(account.address, run(account, (shop.token(BASE), 0, data)))
        shop.look(10)
        if is_late:
            assert [reason for reason, _ in shop.unmatched()] == ["no_order"]
            liar.lies[:] = [rename(reference, stolen)]
            shop.pass_time(PAUSE_S)
            shop.look(10)
        assert not shop.outcome(thiefs).startswith("success")
        liar.lies.clear()
        endpoints[1].lies.clear()
        shop.pass_time(PAUSE_S)
        shop.look(8)
        assert shop.outcome(victims) == "success/"
