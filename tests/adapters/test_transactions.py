"""What paying transactions are made of, decoded again by the ABI of their contracts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from eth_abi import decode
from eth_utils import keccak

from adapters.bridges.across.payments import AcrossPayments
from adapters.bridges.stargate.payments import StargatePayments
from adapters.chain.deployments import read_deployments
from adapters.transactions.base import CannotBuild, PaymentCall, PlannedHop, Purpose, Spending, Terms
from adapters.transactions.erc20 import build_approvals
from adapters.transactions.intermediaries import UNISWAP_V3, Intermediaries, PoolFactory, SharedVault, VaultCall
from adapters.transactions.paths import find_path
from adapters.transactions.payment_builders import PaymentBuilders, append_reference, list_transactions
from adapters.transactions.uniswap_v3 import UniswapV3Payments, encode_path
from routing_engine.model import Hop, Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

PAYER, MERCHANT = "0x" + "aa" * 20, "0x" + "bb" * 20
REFERENCE = bytes(range(16))
COIN = CHAINS[1].native_token
WETH, USDC, DAI = (token_registry.token(symbol, 1) for symbol in ("WETH", "USDC", "DAI"))
USDC_ON_BASE, WETH_ON_BASE = (token_registry.token(symbol, 8453) for symbol in ("USDC", "WETH"))
POOL = next(facts.get_address("spoke_pool") for facts in read_deployments("across", 1))
ACROSS_TERMS = {
    "spokePoolAddress": POOL,
    "exclusiveRelayer": "0x" + "cc" * 20,
    "timestamp": 1_700_000_000,
    "fillDeadline": 1_700_020_000,
    "exclusivityDeadline": 1_700_000_060,
}
BUILDERS = PaymentBuilders.load()


def hop(protocol: str, token_in: Token, token_out: Token, fee_pips: int = 0) -> PlannedHop:
    made = Hop(market_id="m", protocol=protocol, token_in=token_in, token_out=token_out, amount_in=110, amount_out=100)
    return PlannedHop(hop=made, fee_pips=fee_pips)


def terms(**changes: object) -> Terms:
    return replace(
        Terms(payer=PAYER, recipient=MERCHANT, amount_in_max=110, amount_out=100, deadline=1_700_000_000), **changes
    )


def arguments(call: PaymentCall, *types: str) -> tuple[object, ...]:
    return decode(types, call.data[4:])


def as_word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


DEPOSIT = ("address",) * 4 + ("uint256",) * 3 + ("address",) + ("uint32",) * 3 + ("bytes",)


@pytest.mark.parametrize("is_coin", [False, True])
def test_an_across_deposit_names_the_exact_output(is_coin):
    deposit = hop("across", WETH if is_coin else USDC, USDC_ON_BASE)
    hops = (hop("wrap", COIN, WETH), deposit) if is_coin else (deposit,)
    call = BUILDERS.build(hops, hops[0].hop.token_in, terms(firm=ACROSS_TERMS))
    token = WETH if is_coin else USDC
    relayer, *moments = ACROSS_TERMS["exclusiveRelayer"], 1_700_000_000, 1_700_020_000, 1_700_000_060
    ends = PAYER, MERCHANT, token.address, USDC_ON_BASE.address
    assert call.data[:4].hex() == "7b939232"
    assert arguments(call, *DEPOSIT) == (*ends, 110, 100, 8453, relayer, *moments, b"")
    assert (call.to, call.value) == (POOL, 110 if is_coin else 0)
    assert call.spending == (None if is_coin else Spending(token=USDC, spender=POOL, amount=110))


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize(("named", "relayer"), [("0x" + "CC" * 20, "0x" + "cc" * 20), ("0x" + "00" * 20, "")])
def test_a_call_says_who_may_fill_its_deposit_and_until_when(is_swapped, named, relayer):
    deposit = hop("across", USDC, USDC_ON_BASE)
    hops = (hop("uniswap_v3", DAI, USDC, fee_pips=100), deposit) if is_swapped else (deposit,)
    call = BUILDERS.build(hops, hops[0].hop.token_in, terms(firm=ACROSS_TERMS | {"exclusiveRelayer": named}))
    assert (call.to != POOL) == is_swapped
    assert (call.fill_deadline, call.relayer) == (1_700_020_000, relayer)


def test_a_deposit_goes_to_no_pool_that_is_not_known():
    deposit = (hop("across", USDC, USDC_ON_BASE),)
    with pytest.raises(CannotBuild, match="known is"):
        AcrossPayments().build(deposit, terms(firm={**ACROSS_TERMS, "spokePoolAddress": "0x" + "66" * 20}))


def test_across_is_not_asked_for_wrapped_coins_since_wallets_get_the_coin():
    assert not AcrossPayments().can_build((hop("across", WETH, WETH_ON_BASE),))
    with pytest.raises(CannotBuild):
        AcrossPayments().build((hop("across", WETH, WETH_ON_BASE),), terms(firm=ACROSS_TERMS))


def test_a_burn_may_lose_no_more_than_the_fee_and_asks_circle_to_mint():
    burn = (hop("cctp_fast_forwarded", USDC, USDC_ON_BASE),)
    firm = {"maxFee": 10, "minFinalityThreshold": 1000}
    call = BUILDERS.build(burn, USDC, terms(firm=firm, reference=REFERENCE))
    types = ("uint256", "uint32", "bytes32", "address", "bytes32", "uint256", "uint32", "bytes")
    hook = b"cctp-forward".ljust(32, b"\0") + REFERENCE
    assert call.data[:4].hex() == "779b432d"
    assert arguments(call, *types) == (110, 6, as_word(MERCHANT), USDC.address, bytes(32), 10, 1000, hook)
    assert call.spending == Spending(token=USDC, spender=call.to, amount=110)
    assert (call.fill_deadline, call.relayer) == (None, "")
    assert not BUILDERS.can_build((hop("cctp_fast", USDC, USDC_ON_BASE),)), "nobody would mint on the other chain"


@pytest.mark.parametrize(("token", "value"), [(USDC, 7), (COIN, 117)])
def test_a_send_carries_the_messages_price(token, value):
    firm = {"contract": "0x" + "dd" * 20, "dstEid": 30184, "nativeFee": 7}
    other = token_registry.token(token.symbol, 8453)
    call = StargatePayments().build((hop("stargate", token, other),), terms(firm=firm))
    order, fee, back = arguments(
        call, "(uint32,bytes32,uint256,uint256,bytes,bytes,bytes)", "(uint256,uint256)", "address"
    )
    assert order == (30184, as_word(MERCHANT), 110, 100, b"", b"", b"")
    assert (fee, back, call.value) == ((7, 0), PAYER, value)
    assert call.spending == (None if token.is_native else Spending(token=USDC, spender="0x" + "dd" * 20, amount=110))


def test_a_v3_path_runs_from_the_last_token_to_the_first():
    hops = (hop("uniswap_v3", WETH, USDC, 500), hop("uniswap_v3", USDC, DAI, 100))
    path = find_path(hops, frozenset({"uniswap_v3"}))
    a, b, c = (bytes.fromhex(token.address[2:]) for token in (DAI, USDC, WETH))
    assert encode_path(path) == a + (100).to_bytes(3, "big") + b + (500).to_bytes(3, "big") + c


@pytest.mark.parametrize(
    "hops",
    [
        (hop("uniswap_v2", WETH, USDC), hop("uniswap_v3", USDC, DAI, 100)),
        (hop("uniswap_v3", WETH, USDC, 500), hop("uniswap_v3", WETH, DAI, 100)),
        (hop("uniswap_v3", WETH, USDC, 500), hop("cctp_fast_forwarded", USDC, USDC_ON_BASE)),
        (hop("uniswap_v3", WETH, DAI, 500), hop("across", USDC, USDC_ON_BASE)),
        (hop("uniswap_v3", USDC, WETH, 500), hop("across", WETH, WETH_ON_BASE)),
        (hop("across", USDC_ON_BASE, USDC), hop("uniswap_v3", USDC, WETH, 500)),
        (hop("uniswap_v3", WETH, USDC),),
        (hop("uniswap_v3", WETH, USDC, 500), hop("across", USDC_ON_BASE, USDC)),
        (hop("uniswap_v3", DAI, WETH, 500), hop("wrap", WETH, COIN), hop("wrap", COIN, WETH)),
        (hop("sushiswap_v2", WETH, USDC),),
    ],
    ids=[
        "two protocols",
        "parallel",
        "swap, then a bridge without a contract that does both",
        "a swap into another token than is deposited",
        "swap, then a deposit that gives the coin",
        "bridge, then swap",
        "no fee",
        "other chain",
        "wrapping about",
        "no router known",
    ],
)
def test_what_one_call_does_not_take_is_refused(hops):
    assert not BUILDERS.can_build(hops)
    with pytest.raises(CannotBuild):
        BUILDERS.build(hops, hops[0].hop.token_in, terms())


def test_a_chain_without_a_router_is_refused():
    builder = UniswapV3Payments("uniswap_v3", {10: "0x" + "11" * 20}, {})
    assert not builder.can_build((hop("uniswap_v3", WETH, USDC, 500),))


@pytest.mark.parametrize(
    ("allowance", "purposes", "amounts"),
    [
        (0, [Purpose.APPROVE], [110]),
        (109, [Purpose.RESET, Purpose.APPROVE], [0, 110]),
        (110, [], []),
        (2**256 - 1, [], []),
    ],
)
def test_allowances_are_exact_and_taken_back_before_they_change(allowance, purposes, amounts):
    made = build_approvals(Spending(token=USDC, spender=POOL, amount=110), allowance)
    assert [each.purpose for each in made] == purposes
    assert [decode(["address", "uint256"], each.data[4:]) for each in made] == [(POOL, each) for each in amounts]
    assert all((each.to, each.value, each.chain_id) == (USDC.address, 0, 1) for each in made)


def test_transfers_of_tokens_and_of_the_coin():
    token = append_reference(BUILDERS.build((), USDC, terms()), REFERENCE)
    assert (token.to, token.value, token.data[:4].hex()) == (USDC.address, 0, "a9059cbb")
    assert decode(["address", "uint256"], token.data[4:]) == (MERCHANT, 100)
    coin = append_reference(BUILDERS.build((), COIN, terms()), REFERENCE)
    assert (coin.to, coin.value, coin.data) == (MERCHANT, 100, REFERENCE)
    (only,) = list_transactions(token, 0)
    assert only.purpose is Purpose.PAY
    assert only.data[-16:] == REFERENCE


def test_a_reference_of_another_length_would_never_be_found():
    with pytest.raises(ValueError, match="16 bytes"):
        append_reference(BUILDERS.build((), USDC, terms()), b"short")


class Unnamed(UniswapV3Payments):
    """Says of nobody that what they have is nobody's."""

    def find_intermediaries(self, chain_id):
        return Intermediaries()


def test_who_names_nothing_that_money_passes_through_is_not_offered():
    hops, factory = (hop("uniswap_v3", WETH, USDC, 500),), PoolFactory(address=POOL, interface=UNISWAP_V3)
    for kind, is_offered in ((UniswapV3Payments, True), (Unnamed, False)):
        builders = PaymentBuilders([kind("uniswap_v3", {1: "0x" + "11" * 20}, {1: (factory,)})])
        assert builders.can_build(hops) is is_offered
        assert builders.list_families(1, crosses_chains=False) == (({"uniswap_v3"},) if is_offered else ())
        assert builders.list_families(10, crosses_chains=False) == ()
        assert bool(builders.find_call_readers(1)) is is_offered
        if not is_offered:
            with pytest.raises(CannotBuild):
                builders.build(hops, WETH, terms())


@pytest.mark.parametrize("address", ["", "0x12", "0x" + "00" * 20, "0x" + "AB" * 20])
def test_what_is_no_contract_cannot_be_named(address):
    with pytest.raises(ValueError, match="must be an address in lower case"):
        PoolFactory(address=address, interface=UNISWAP_V3)
    with pytest.raises(ValueError, match="must be an address in lower case"):
        Intermediaries(contracts=(address,))
    with pytest.raises(ValueError, match="must be an address in lower case"):
        SharedVault(address=address, sessions=frozenset(), is_trade=bool)


def test_two_builders_that_call_one_router_are_both_read_back():
    def reader(first):
        class Reads(Unnamed):
            def find_intermediaries(self, chain_id):
                return Intermediaries(contracts=(POOL,))

            def find_call_readers(self, chain_id):
                return {POOL: lambda contract, data: contract if data[:1] == first else None}

        return Reads("uniswap_v3", {}, {})

    read = PaymentBuilders([reader(b"a"), reader(b"b")]).find_call_readers(1)[POOL]
    assert [read(POOL, data) for data in (b"a", b"b", b"c")] == [POOL, POOL, None]


UNLOCK, SWAP, TAKE, SYNC, SETTLE, BURN, LIQUIDITY = (
    keccak(text=text)[:4]
    for text in (
        "unlock(bytes)",
        "swap((address,address,uint24,int24,address),(bool,int256,uint160),bytes)",
        "take(address,address,uint256)",
        "sync(address)",
        "settle()",
        "burn(address,uint256,uint256)",
        "modifyLiquidity((address,address,uint24,int24,address),(int24,int24,int256,bytes32),bytes)",
    )
)


@pytest.mark.parametrize(
    ("calls", "is_trade"),
    [
        ([(SWAP, 0), (SYNC, 0), (SETTLE, 0), (TAKE, 0)], True),
        ([(SWAP, 0), (SETTLE, 5), (TAKE, 0)], True),
        ([(SYNC, 0), (TAKE, 0), (SETTLE, 0), (SYNC, 0), (SETTLE, 0)], True),
        ([(SWAP, 0), (SETTLE, 0), (TAKE, 0)], False),  # what came before the session pays
        ([(SYNC, 0), (SETTLE, 0), (SETTLE, 0), (TAKE, 0)], False),
        ([(SETTLE, 0), (SYNC, 0), (TAKE, 0)], False),
        ([(SWAP, 0), (BURN, 0), (TAKE, 0)], False),
        ([(LIQUIDITY, 0), (TAKE, 0)], False),
        ([(SWAP, 0), (SYNC, 0), (SETTLE, 0), (TAKE, 0, "0x" + "cc" * 20)], False),  # a hook takes something
    ],
)
def test_what_a_session_of_the_managers_pays_for(calls, is_trade):
    locker = "0x" + "aa" * 20
    (vault,) = BUILDERS.find_intermediaries(1).vaults
    told = [
        VaultCall(sender=rest[0] if rest else locker, value=value, calldata=selector + bytes(32))
        for selector, value, *rest in ((UNLOCK, 0), *calls)
    ]
    assert vault.sessions == {UNLOCK}
    assert vault.is_trade(told) is is_trade
