"""The sandbox's bridges: real protocols' fee shapes and fill times, with limits and liquidity invented.

Each trades price against time in its own way: Across and CCTP fast take about a basis point and seconds, CCTP standard
and the canonical bridges nothing and minutes to a week, Stargate a fee that varies by direction, Hop an exchange at
each end. A relayer's or a message's gas is a fixed part, in the deposited token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product

from routing_engine.fixed_point import BPS, WAD
from routing_engine.market import UNLIMITED
from routing_engine.markets import BridgeLane, LaneFee
from routing_engine.markets.bridges.fill_times import (
    across_fill_time,
    canonical_fill_time,
    cctp_fast_fill_time,
    cctp_standard_fill_time,
    hop_fill_time,
    layer_zero_fill_time,
)
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS
from routing_engine.reference.token_registry import by_symbol, token
from routing_engine.sandbox.chains import find_chains_of, sandbox_facts
from routing_engine.sandbox.draws import Draws
from routing_engine.sandbox.prices import convert_usd, price_gas_usd

_L1 = 1
_BP = WAD // BPS
_USD = 10**6
"""One dollar, as this package counts money: in micro-dollars."""

_ACROSS_LIMITS = {
    "USDC": 2_000_000,
    "USDT": 1_000_000,
    "DAI": 400_000,
    "WETH": 5_000_000,
    "ETH": 5_000_000,
    "WBTC": 1_500_000,
}
_STARGATE_LIMITS = {"USDC": 3_000_000, "USDT": 1_500_000, "ETH": 2_500_000}
_CCTP_LIMIT, _HOP_LIMIT, _LAYER_ZERO_LIMIT = 10_000_000, 250_000, 1_000_000
"""Largest deposits, in dollars, before each direction's own draw."""

_DEPOSIT_GAS = {
    "across": 95_000,
    "canonical": 160_000,
    "cctp_fast": 120_000,
    "cctp_standard": 120_000,
    "hop": 140_000,
    "layerzero": 230_000,
    "stargate": 210_000,
}
_FILL_GAS, _MESSAGE_GAS, _CLAIM_GAS = 130_000, 200_000, 300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What a lane charges and allows; money in micro-dollars, rates in 1e-18."""

    fees: tuple[tuple[str, int, int], ...] = ()
    fill_time_s: int
    min_usd: int = 0
    max_usd: int | None = None


def draw_lanes(draws: Draws) -> Iterator[BridgeLane]:
    """Yield every lane between the chains."""
    yield from _draw_across(draws)
    yield from _draw_cctp()
    yield from _draw_stargate(draws)
    yield from _draw_layer_zero()
    yield from _draw_hop(draws)
    yield from _draw_canonical()


def _draw_across(draws: Draws) -> Iterator[BridgeLane]:
    """Across: 1 bp for the relayer's capital, a utilisation-priced LP fee, and the fill's gas."""
    for symbol, limit in _ACROSS_LIMITS.items():
        for origin, destination in permutations(_find_chains("across", symbol), 2):
            gas = price_gas_usd(destination, _FILL_GAS)
            direction = f"across/{symbol}/{origin}/{destination}"
            lp_fee = draws.integer(f"{direction}/lp_fee", 0, 15) * _BP // 10
            terms = _Terms(
                fees=(("relayer_fee", 0, _BP), ("lp_fee", 0, lp_fee), ("destination_gas_fee", gas, 0)),
                fill_time_s=across_fill_time(symbol, origin, destination),
                min_usd=max(_USD // 2, 4 * gas),
                max_usd=_draw_limit(draws, direction, limit),
            )
            yield _lane("across", token(symbol, origin), token(symbol, destination), terms)


def _draw_cctp() -> Iterator[BridgeLane]:
    """Burn and mint USDC: free once final, or for 1 bp as soon as it is confirmed."""
    for origin, destination in permutations(_find_chains("cctp", "USDC"), 2):
        ends = token("USDC", origin), token("USDC", destination)
        slow = cctp_standard_fill_time(origin, destination)
        yield _lane("cctp_standard", *ends, _Terms(fill_time_s=slow, max_usd=_CCTP_LIMIT * _USD))
        fast = cctp_fast_fill_time(origin, destination)
        if fast is not None:
            fees = (("protocol_fee", 0, _BP),)
            yield _lane("cctp_fast", *ends, _Terms(fees=fees, fill_time_s=fast, max_usd=_CCTP_LIMIT * _USD))


def _draw_stargate(draws: Draws) -> Iterator[BridgeLane]:
    """Stargate v2: a fee that depends on how much the direction drains its pool, and a LayerZero message."""
    for symbol, limit in _STARGATE_LIMITS.items():
        for origin, destination in permutations(_find_chains("stargate", symbol, by="layerzero"), 2):
            direction = f"stargate/{symbol}/{origin}/{destination}"
            rate = draws.integer(f"{direction}/fee", 1, 24) * _BP // 4
            message = _message_cost(destination)
            terms = _Terms(
                fees=(("protocol_fee", 0, rate), ("message_fee", message, 0)),
                fill_time_s=layer_zero_fill_time(origin, destination),
                min_usd=2 * message,
                max_usd=_draw_limit(draws, direction, limit),
            )
            yield _lane("stargate", token(symbol, origin), token(symbol, destination), terms)


def _draw_layer_zero() -> Iterator[BridgeLane]:
    """WBTC's own LayerZero contracts, the way to and from Base: a message and nothing else."""
    for chain_id, (hub, symbol) in product(find_chains_of("layerzero"), _layer_zero_hubs()):
        if chain_id == hub or chain_id not in by_symbol(symbol).addresses:
            continue
        for origin, destination in ((chain_id, hub), (hub, chain_id)):
            message = _message_cost(destination)
            terms = _Terms(
                fees=(("message_fee", message, 0),),
                fill_time_s=layer_zero_fill_time(origin, destination),
                min_usd=2 * message,
                max_usd=_LAYER_ZERO_LIMIT * _USD,
            )
            yield _lane("layerzero", token(symbol, origin), token(symbol, destination), terms)


def _draw_hop(draws: Draws) -> Iterator[BridgeLane]:
    """Hop: 4 bps for the exchange at each rollup, and a bonder's 2 bps and gas unless the funds come from Ethereum."""
    for name, symbol in (("ETH", "ETH"), ("USDC.e", "USDC"), ("USDT", "USDT"), ("DAI", "DAI")):
        carried = {each: CHAINS[each].bridges["hop"]["tokens"] for each in find_chains_of("hop")}
        chains = [chain_id for chain_id, names in carried.items() if name in names]
        for origin, destination in permutations(chains, 2):
            rollups = (origin != _L1) + (destination != _L1)
            fees = [("lp_fee", 0, 4 * rollups * _BP)]
            gas = price_gas_usd(destination, _FILL_GAS) + _USD // 4
            if origin != _L1:
                fees += [("bonder_fee", 0, 2 * _BP), ("destination_gas_fee", gas, 0)]
            terms = _Terms(
                fees=tuple(fees),
                fill_time_s=hop_fill_time(origin, destination),
                min_usd=2 * gas,
                max_usd=_draw_limit(draws, f"hop/{symbol}/{origin}/{destination}", _HOP_LIMIT),
            )
            here, there = (token(carried[chain_id][name], chain_id) for chain_id in (origin, destination))
            yield _lane("hop", here, there, terms)


def _draw_canonical() -> Iterator[BridgeLane]:
    """Each chain's own bridge with Ethereum: free and slow; a withdrawal is claimed by a transaction on Ethereum."""
    claim = (("destination_gas_fee", price_gas_usd(_L1, _CLAIM_GAS), 0),)
    for symbol in ("ETH", "USDC", "USDT", "DAI", "WBTC", "POL"):
        for chain_id in find_chains_of("canonical"):
            names = {
                **CHAINS[chain_id].bridges["canonical"]["tokens"],
                **sandbox_facts(chain_id).get("canonical_tokens", {}),
            }
            if symbol not in names:
                continue
            here, there = token(symbol, _L1), token(names[symbol], chain_id)
            up = _Terms(fill_time_s=canonical_fill_time(_L1, chain_id))
            down = _Terms(fees=claim, fill_time_s=canonical_fill_time(chain_id, _L1))
            yield _lane("canonical", here, there, up)
            yield _lane("canonical", there, here, down)


def _find_chains(bridge: str, symbol: str, by: str = "") -> tuple[int, ...]:
    """Return the chains with a token that a bridge takes there; `by` names what the bridge itself works by."""
    served = find_chains_of(by or bridge)
    chains = (chain_id for chain_id in by_symbol(symbol).chain_ids if chain_id in served)
    return tuple(each for each in chains if symbol not in sandbox_facts(each).get("without", {}).get(bridge, ()))


def _layer_zero_hubs() -> tuple[tuple[int, str], ...]:
    """Return chains, and the tokens that come there from every other chain by LayerZero contracts of their own."""
    chains = find_chains_of("layerzero")
    return tuple((each, symbol) for each in chains for symbol in sandbox_facts(each).get("layerzero_tokens", ()))


def _message_cost(destination: int) -> int:
    """Gas of a LayerZero message on the destination, and a nickel for its verifiers."""
    return price_gas_usd(destination, _MESSAGE_GAS) + _USD // 20


def _draw_limit(draws: Draws, direction: str, limit_usd: int) -> int:
    return limit_usd * draws.integer(f"{direction}/limit", 50, 130) * _USD // 100


def _lane(protocol: str, token_in: Token, token_out: Token, terms: _Terms) -> BridgeLane:
    fees = tuple(LaneFee(name=name, flat=convert_usd(token_in, flat), rate_e18=rate) for name, flat, rate in terms.fees)
    return BridgeLane(
        id=f"{protocol}:{token_in.chain_id}-{token_out.chain_id}:{token_in.symbol}",
        protocol=protocol,
        token_in=token_in,
        token_out=token_out,
        fees=fees,
        min_amount_in=max(1, convert_usd(token_in, terms.min_usd)),
        max_amount_in=UNLIMITED if terms.max_usd is None else convert_usd(token_in, terms.max_usd),
        fill_time_s=terms.fill_time_s,
        gas=_DEPOSIT_GAS[protocol],
    )
