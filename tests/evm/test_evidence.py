"""Whose money a transfer was, on real contracts: payments, and those who would have others pay for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from eth_account import Account
from eth_account.signers.local import LocalAccount
from eth_utils import keccak

from api.domain.transfers import COIN_TRANSFER, FIRST_INNER_TRANSFER, Naming
from api.domain.watched import Watched
from api.services.ledger.evidence.entries import ENTRY_POINTS
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference.chains import CHAINS
from tests.support.evidence import (
    MINE,
    THEIRS,
    Meddling,
    approve,
    by_recipient,
    customer_of,
    data_of,
    found_in,
    own,
    permit_of,
    reader_of,
    run,
    runner_on,
)
from tests.support.evm import ACTOR, Contract
from tests.support.main_net import MainNet, placed, running_main_net
from tests.support.settlement import Wallet, somebody, transfer_data
from tests.support.vyper_source import compiled

BASE = 8453
SHOP = somebody("merchant whose evidence is looked at")


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(BASE) as base:
        yield base


@pytest.fixture(scope="module")
def usdc(net: MainNet) -> Contract:
    return net.tokens["USDC"]


@pytest.fixture
def payer(net: MainNet) -> Wallet:
    return customer_of(net, "payer")


@pytest.fixture
def thief(net: MainNet) -> Wallet:
    return customer_of(net, "thief")


@pytest.mark.rule("evidence.1")
def test_a_transfer_is_proven_by_its_calldata_alone(net: MainNet, usdc: Contract, payer: Wallet) -> None:
    node = Meddling()
    (found,) = found_in(net, payer.pay(usdc.address, SHOP, 5, MINE), [SHOP], node)
    assert (found.sender, found.amount, found.is_inner) == (payer.address, 5, False)
    assert found.namings == (Naming(reference=MINE, is_own=True, caller=payer.address),)
    assert node.traced == 0


@pytest.mark.rule("evidence.1")
def test_coin_is_proven_by_its_calldata_alone(net: MainNet, payer: Wallet) -> None:
    node = Meddling()
    (found,) = found_in(net, payer.send(SHOP, MINE, value=7), [SHOP], node)
    assert (found.sender, found.amount, found.log_index, own(found)) == (payer.address, 7, COIN_TRANSFER, (MINE,))
    assert node.traced == 0


@pytest.mark.parametrize("refuses", [False, True])
def test_a_transfer_without_a_reference_names_nothing(
    net: MainNet, usdc: Contract, payer: Wallet, refuses: bool
) -> None:
    (found,) = found_in(net, payer.pay(usdc.address, SHOP, 5), [SHOP], Meddling(refuses))
    assert (found.sender, found.namings) == (payer.address, ())


@pytest.mark.rule("evidence.2")
def test_a_bundles_own_reference_covers_nobody_elses_money(
    net: MainNet, usdc: Contract, payer: Wallet, thief: Wallet
) -> None:
    """The victim let a contract spend; whoever calls it puts his reference behind the whole bundle."""
    spender = runner_on(net.chain)
    approve(payer, usdc, spender.address)
    taken = data_of(usdc, "transferFrom", payer.address, SHOP, 30)
    tx_hash = thief.send(spender.address, run(spender, [(usdc.address, 0, taken)]) + THEIRS)
    for node in (Meddling(), Meddling(refuses=True)):
        (found,) = found_in(net, tx_hash, [SHOP], node)
        assert (own(found), found.sender) == ((), "")


def test_not_even_if_the_thief_pays_a_little_himself(
    net: MainNet, usdc: Contract, payer: Wallet, thief: Wallet
) -> None:
    spender = runner_on(net.chain)
    for wallet in (payer, thief):
        approve(wallet, usdc, spender.address)
    calls = [
        (usdc.address, 0, data_of(usdc, "transferFrom", wallet.address, SHOP, amount))
        for wallet, amount in ((thief, 1), (payer, 30))
    ]
    tx_hash = thief.send(spender.address, run(spender, calls) + THEIRS)
    for node in (Meddling(), Meddling(refuses=True)):
        found = by_recipient(found_in(net, tx_hash, [SHOP], node))
        assert {amount: (own(row), row.sender) for (_, amount), row in found.items()} == {
            1: ((), ""),
            30: ((), ""),
        }


def test_each_account_of_a_bundle_names_its_own_order(net: MainNet, usdc: Contract, thief: Wallet) -> None:
    """As ERC-4337 does it: a bundler calls the entry point, which calls accounts, which pay."""
    first, second = (runner_on(net.chain) for _ in range(2))
    entry = placed(net.chain, min(ENTRY_POINTS), compiled("runner"))
    for account in (first, second):
        net.fund(account.address, "USDC", 100)
    calls = [
        (account.address, 0, run(account, [(usdc.address, 0, transfer_data(SHOP, amount) + reference)]))
        for account, amount, reference in ((first, 10, MINE), (second, 20, THEIRS))
    ]
    tx_hash = thief.send(entry.address, run(entry, calls) + b"bundlers own one")
    found = by_recipient(found_in(net, tx_hash, [SHOP]))
    assert {amount: (own(row), row.sender) for (_, amount), row in found.items()} == {
        10: ((MINE,), first.address.lower()),
        20: ((THEIRS,), second.address.lower()),
    }
    assert all(own(row) == () for row in found_in(net, tx_hash, [SHOP], Meddling(refuses=True)))


def test_who_is_called_by_an_unknown_contract_is_not_certainly_the_payer(
    net: MainNet, usdc: Contract, thief: Wallet
) -> None:
    """What its own calls name counts. Whether it is an account or a vault, nobody can tell."""
    relay, account = runner_on(net.chain), runner_on(net.chain)
    net.fund(account.address, "USDC", 100)
    paid = run(account, [(usdc.address, 0, transfer_data(SHOP, 10) + MINE)])
    (found,) = found_in(net, thief.send(relay.address, run(relay, [(account.address, 0, paid)])), [SHOP])
    assert (own(found), found.sender) == ((MINE,), "")
    assert set(found.others) == {thief.address, relay.address.lower(), account.address.lower()}


def test_coin_of_an_account_is_found_and_is_its_own(net: MainNet, thief: Wallet) -> None:
    entry, account = placed(net.chain, max(ENTRY_POINTS), compiled("runner")), runner_on(net.chain)
    net.fund(account.address, "ETH", 10**18)
    calls = [(account.address, 0, run(account, [(SHOP, 11, MINE), (SHOP, 12, THEIRS)]))]
    tx_hash = thief.send(entry.address, run(entry, calls))
    first, second = sorted(found_in(net, tx_hash, [SHOP]), key=lambda row: row.amount)
    assert (first.amount, own(first), first.sender) == (11, (MINE,), account.address.lower())
    assert (second.amount, own(second), first.token_address) == (12, (THEIRS,), NATIVE_ADDRESS)
    assert [row.log_index for row in (first, second)] == [FIRST_INNER_TRANSFER - 1, FIRST_INNER_TRANSFER - 2]
    assert first.is_inner
    assert found_in(net, tx_hash, [SHOP], Meddling(refuses=True)) == []


def test_coin_that_an_inner_call_brings_is_the_accounts_that_paid_the_contract(net: MainNet, payer: Wallet) -> None:
    """The value passes through a contract that keeps nothing."""
    between = runner_on(net.chain)
    tx_hash = payer.send(between.address, run(between, [(SHOP, 40, b"")]) + MINE, value=40)
    (found,) = found_in(net, tx_hash, [SHOP])
    assert (found.amount, own(found), found.sender) == (40, (MINE,), payer.address)


def test_what_a_destroyed_contract_leaves_is_found(net: MainNet, payer: Wallet) -> None:
    doomed = somebody("a contract that ends")
    net.chain.set_code(doomed, bytes.fromhex("5f35ff"))  # selfdestruct in favour of the first word of calldata
    net.fund(doomed, "ETH", 77)
    (found,) = found_in(net, payer.send(doomed, bytes(12) + bytes.fromhex(SHOP[2:]) + MINE), [SHOP])
    assert (found.amount, own(found), found.sender) == (77, (), doomed)


def test_a_signed_permission_counts_for_who_signed_only(net: MainNet, usdc: Contract, thief: Wallet) -> None:
    """A stranger submits the victim's permit and takes the money to the merchant, with his own reference."""
    owner: LocalAccount = Account.from_key(keccak(text="a victim's key"))
    signer = owner.address.lower()
    net.fund(signer, "USDC", 1_000)
    spender = runner_on(net.chain)
    permit = permit_of(usdc, owner, spender.address, 900)
    taken = data_of(usdc, "transferFrom", signer, SHOP, 900)
    calls = [(usdc.address, 0, permit), (usdc.address, 0, taken + THEIRS)]
    tx_hash = thief.send(spender.address, run(spender, calls) + THEIRS)
    for refuses in (False, True):
        (found,) = found_in(net, tx_hash, [SHOP], Meddling(refuses))
        assert (own(found), found.sender, found.amount) == ((), "" if refuses else signer, 900)


@pytest.mark.rule("evidence.2")
def test_an_allowance_used_directly_counts_for_nobody(
    net: MainNet, usdc: Contract, payer: Wallet, thief: Wallet
) -> None:
    approve(payer, usdc, thief.address)
    tx_hash = thief.send(usdc.address, data_of(usdc, "transferFrom", payer.address, SHOP, 44) + THEIRS)
    for node in (Meddling(), Meddling(refuses=True)):
        (found,) = found_in(net, tx_hash, [SHOP], node)
        assert (own(found), found.sender) == ((), "")


def test_a_fake_tokens_event_before_it_changes_nothing(
    net: MainNet, usdc: Contract, payer: Wallet, thief: Wallet
) -> None:
    spender, fake = runner_on(net.chain), net.chain.deploy(compiled("eager_token"))
    approve(payer, usdc, spender.address)
    calls = [
        (fake.address, 0, data_of(fake, "pretend", thief.address, SHOP, 10**9)),
        (usdc.address, 0, data_of(usdc, "transferFrom", payer.address, SHOP, 30)),
    ]
    tx_hash = thief.send(spender.address, run(spender, calls) + THEIRS)
    for node in (Meddling(), Meddling(refuses=True)):
        found = by_recipient(found_in(net, tx_hash, [SHOP], node))[usdc.address.lower(), 30]
        assert (own(found), found.sender) == ((), "")


def test_money_that_is_nobodys_pays_for_nobody_but_who_holds_it(net: MainNet, usdc: Contract, thief: Wallet) -> None:
    """What a contract holds is the contract's: behind its own call its reference counts, behind the caller's none."""
    holder = runner_on(net.chain)
    net.fund(holder.address, "USDC", 100)
    calls = [(usdc.address, 0, transfer_data(SHOP, 50) + MINE)]
    (found,) = found_in(net, thief.send(holder.address, run(holder, calls) + THEIRS), [SHOP])
    assert (own(found), found.sender) == ((MINE,), holder.address.lower())


@pytest.mark.parametrize("refuses", [False, True])
def test_unwrapping_ones_own_coin_claims_nobody_elses(
    net: MainNet, payer: Wallet, thief: Wallet, refuses: bool
) -> None:
    """The merchant and a reference stand behind ``withdraw``, and in the same block somebody's account really pays."""
    weth, account = net.tokens["WETH"], runner_on(net.chain)
    net.fund(thief.address, "WETH", 10**18)
    withdraw = data_of(weth, "withdraw", 500) + bytes(12) + bytes.fromhex(SHOP[2:]) + THEIRS
    payer.send(account.address, run(account, [(SHOP, 500, b"")]), value=500, mine=False)
    claimed = thief.send(weth.address, withdraw, mine=False)
    net.chain.mine()
    assert found_in(net, claimed, [SHOP], Meddling(refuses)) == []


@pytest.mark.parametrize("name", ["attempt", "run"])
def test_what_reverted_moved_nothing(net: MainNet, usdc: Contract, payer: Wallet, name: str) -> None:
    outer, inner = runner_on(net.chain), runner_on(net.chain)
    net.fund(inner.address, "ETH", 10**18)
    net.fund(inner.address, "USDC", 100)
    lost = [(SHOP, 13, MINE), (usdc.address, 0, transfer_data(SHOP, 14) + MINE)]
    calls = [(inner.address, 0, run(inner, lost, "run_and_revert")), (inner.address, 0, run(inner, lost[:1]))]
    if name == "run":
        calls = calls[1:]
    found = found_in(net, payer.send(outer.address, run(outer, calls, name)), [SHOP])
    assert [(row.amount, own(row)) for row in found] == [(13, (MINE,))]
    assert found[0].log_index == FIRST_INNER_TRANSFER - 1


def _renamed(trace: dict[str, Any]) -> None:
    """Put the thief's reference where the account's own call ended."""
    inner = trace["calls"][0]
    inner["input"] = inner["input"][:-32] + THEIRS.hex()
    inner["logs"][0]["data"] = f"0x{99:064x}"


def _without_logs(trace: dict[str, Any]) -> None:
    del trace["calls"][0]["logs"]


def _of_another(trace: dict[str, Any]) -> None:
    trace["from"] = somebody("somebody else")


def _invented(trace: dict[str, Any]) -> None:
    trace["calls"][0]["logs"] *= 2


def _shapeless(trace: dict[str, Any]) -> None:
    trace["calls"] = [7]


LIES = (_renamed, _without_logs, _of_another, _invented, _shapeless)


@pytest.mark.parametrize("lie", LIES)
def test_a_trace_that_does_not_fit_the_receipt_is_not_believed(
    net: MainNet, usdc: Contract, thief: Wallet, lie: Any
) -> None:
    account = runner_on(net.chain)
    net.fund(account.address, "USDC", 100)
    calls = [(usdc.address, 0, transfer_data(SHOP, 10) + MINE)]
    tx_hash = thief.send(account.address, run(account, calls) + THEIRS)
    (believed,) = found_in(net, tx_hash, [SHOP])
    (found,) = found_in(net, tx_hash, [SHOP], Meddling(change=lie))
    assert (own(believed), own(found)) == ((MINE,), ())
    assert (found.sender, found.amount) == (account.address.lower(), 10)


def test_a_trace_without_positions_is_told_by_the_receipt(net: MainNet, usdc: Contract, thief: Wallet) -> None:
    """As older nodes give it."""

    def without(frame: dict[str, Any]) -> None:
        for log in frame.get("logs", ()):
            del log["position"], log["index"]
        for call in frame.get("calls", ()):
            without(call)

    entry, account, fake = runner_on(net.chain), runner_on(net.chain), net.chain.deploy(compiled("eager_token"))
    net.fund(account.address, "USDC", 100)
    fake("mint", account.address, 100)
    fake("plan", fake.address, data_of(fake, "pretend", ACTOR, ACTOR, 3))
    paid = [(fake.address, 0, transfer_data(SHOP, 5)), (usdc.address, 0, transfer_data(SHOP, 10) + MINE)]
    tx_hash = thief.send(entry.address, run(entry, [(account.address, 0, run(account, paid))]))
    found = by_recipient(found_in(net, tx_hash, [SHOP], Meddling(change=without)))
    assert own(found[usdc.address.lower(), 10]) == (MINE,)


def test_a_node_that_failed_once_is_asked_again(net: MainNet, usdc: Contract, thief: Wallet) -> None:
    account, node = runner_on(net.chain), Meddling(refuses=True)
    net.fund(account.address, "USDC", 100)
    hashes = [
        thief.send(account.address, run(account, [(usdc.address, 0, transfer_data(SHOP, 10) + MINE)])) for _ in range(2)
    ]
    reader, found = reader_of(net, node), []
    for tx_hash in hashes:
        number = int(net.chain.rpc("eth_getTransactionReceipt", tx_hash)["blockNumber"], 16)
        found += reader.read(number, number, Watched.at([SHOP])).transfers
        node.refuses = False
    assert [own(row) for row in found] == [(), (MINE,)]


def test_wrapped_coin_that_is_sent_on_is_the_senders(net: MainNet, payer: Wallet) -> None:
    """Coin wrapped on the way: what the contract that wraps it pays out is nobody's."""
    between, weth = runner_on(net.chain), CHAINS[BASE].wrapped_native
    calls = [(weth, 60, data_of(net.tokens["WETH"], "deposit")), (weth, 0, transfer_data(SHOP, 60))]
    (found,) = found_in(net, payer.send(between.address, run(between, calls) + MINE, value=60), [SHOP])
    assert (found.token_address, found.amount, found.sender) == (weth, 60, payer.address)
    assert MINE in own(found)
