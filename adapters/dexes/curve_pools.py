"""From the getters of Curve's pools, of all generations, to markets that quote what the pools do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from adapters.chain.protocol import Pool, Refused
from adapters.rpc.abi import Call, CallFailed, Function, Outcome
from adapters.rpc.reading import Reading, ask_each
from routing_engine.amm.cryptoswap.exchange import Method, Profit
from routing_engine.amm.stableswap import Product
from routing_engine.errors import InvalidMarket, QuoteRefused
from routing_engine.markets import CryptoSwapPool, StableSwapPool
from routing_engine.markets.stableswap.readers import PROTOCOL
from routing_engine.markets.stableswap.templates import FIRST_LENDING, OPTIMISED, STETH, Template, template_of

CurveMarket: TypeAlias = StableSwapPool | CryptoSwapPool
Asked: TypeAlias = tuple[tuple[Call, Outcome], ...]
Values: TypeAlias = Mapping[str, tuple[int, ...]]

NUMBER = "uint256"
SHARES = (1_000, 7)
"""Quotes are compared for these parts of a pool's balance."""
SLACK = 1
"""``get_dy`` of older pools takes the fee after rounding, an exchange before: a smallest unit apart."""


def _make_getter(name: str, *inputs: str, output: str = NUMBER) -> Function:
    return Function(f"{name}({','.join(inputs)})", output)


BALANCES = _make_getter("balances", NUMBER)
A_PRECISE, A, FEE, ADMIN_FEE = (_make_getter(name) for name in ("A_precise", "A", "fee", "admin_fee"))
STORED_RATES, MULTIPLIER = _make_getter("stored_rates", output="uint256[]"), _make_getter("offpeg_fee_multiplier")
CRYPTO = ("gamma", "D", "mid_fee", "out_fee", "fee_gamma")
PROFIT = ("xcp_profit", "virtual_price", "totalSupply", "allowed_extra_profit", "adjustment_step")
PRICE_SCALE, PRICE_SCALES = _make_getter("price_scale"), _make_getter("price_scale", NUMBER)
PRICE_ORACLE, PRICE_ORACLES = _make_getter("price_oracle"), _make_getter("price_oracle", NUMBER)
STABLE_DY = _make_getter("get_dy", "int128", "int128", NUMBER)
CRYPTO_DY = _make_getter("get_dy", NUMBER, NUMBER, NUMBER)


@dataclass(frozen=True, slots=True)
class RegistryKind:
    """What distinguishes the pools of one registry.

    Parameters
    ----------
    get_coins : Function
        Of the registry: a pool's coins.
    is_crypto, is_ng : bool
        Whether prices move, and whether it is of the newer generation.
    """

    get_coins: Function
    is_crypto: bool = False
    is_ng: bool = False


def _make_coins_getter(count: int) -> Function:
    """Return a registry's getter of a list of fixed length, which is encoded as so many results."""
    return Function("get_coins(address)", *["address"] * count)


KINDS = {
    "registry": RegistryKind(_make_coins_getter(8)),
    "stable": RegistryKind(_make_coins_getter(4)),
    "stable_ng": RegistryKind(Function("get_coins(address)", "address[]"), is_ng=True),
    "crypto": RegistryKind(_make_coins_getter(2), is_crypto=True),
    "twocrypto_ng": RegistryKind(_make_coins_getter(2), is_crypto=True, is_ng=True),
    "tricrypto_ng": RegistryKind(_make_coins_getter(3), is_crypto=True, is_ng=True),
}


def read_markets(
    kind: RegistryKind, ids: Mapping[Pool, str], chain_id: int
) -> Reading[Mapping[str, CurveMarket | Refused]]:
    """Read pools, and keep those that quote what the contracts do.

    Which rounding a contract has does not show; the candidate whose quotes agree is it.

    Parameters
    ----------
    kind : RegistryKind
        Of all of them.
    ids : mapping of Pool to str
        The id of each pool's market.
    chain_id : int
        Where they are.
    """
    asked = yield from ask_each(ids, lambda pool: _list_getters(kind, pool))
    candidates = {
        pool: _list_candidates(kind, pool, name, _decode_values(asked[pool]), chain_id) for pool, name in ids.items()
    }
    built = [pool for pool in ids if candidates[pool]]
    quotes = yield from ask_each(built, lambda pool: _make_probes(kind, pool, candidates[pool][0]))
    return {
        pool.key: _choose_candidate(candidates[pool], quotes[pool]) if candidates[pool] else Refused("unreadable")
        for pool in ids
    }


def _list_getters(kind: RegistryKind, pool: Pool) -> list[Call]:
    """Return the calls of what a pool's kind has; names repeat for lists."""
    count, to = len(pool.tokens), pool.key
    calls = [BALANCES(to, place) for place in range(count)]
    if not kind.is_crypto:
        calls += [A(to), A_PRECISE(to), FEE(to), ADMIN_FEE(to)]
        return [*calls, STORED_RATES(to), MULTIPLIER(to)] if kind.is_ng else calls
    calls += [A(to), *(_make_getter(name)(to) for name in CRYPTO)]
    several = count > 2
    calls += [PRICE_SCALES(to, place) for place in range(count - 1)] if several else [PRICE_SCALE(to)]
    if kind.is_ng:
        calls += [PRICE_ORACLES(to, place) for place in range(count - 1)] if several else [PRICE_ORACLE(to)]
        calls += [_make_getter(name)(to) for name in PROFIT]
    return calls


def _decode_values(asked: Asked) -> Values:
    """Return what was answered by the functions' names; empty where anything but ``A_precise`` is missing."""
    found: dict[str, tuple[int, ...]] = {}
    for call, outcome in asked:
        name = call.function.signature.partition("(")[0]
        try:
            value = call.decode_one(outcome)
        except CallFailed:
            if name == "A_precise":
                continue
            return {}
        found[name] = (*found.get(name, ()), *(value if isinstance(value, tuple | list) else (value,)))
    return found


def _list_candidates(
    kind: RegistryKind, pool: Pool, identifier: str, values: Values, chain_id: int
) -> list[CurveMarket]:
    """Return the markets that a pool may be, the likeliest first; impossible ones are passed over."""
    builders: list[Callable[[], CurveMarket]]
    if not values:
        return []
    if kind.is_crypto:
        methods = (Method.CLOSED_FORM, Method.STABLE) if kind.is_ng else (Method.NEWTON,)
        builders = [partial(_make_crypto, pool, identifier, values, method) for method in methods]
    else:
        usual = Template(product=Product.LAST) if kind.is_ng else template_of(chain_id, pool.key)
        others = () if kind.is_ng else (Template(), OPTIMISED, STETH, FIRST_LENDING)
        builders = [partial(_make_stable, pool, identifier, values, each) for each in dict.fromkeys((usual, *others))]
    found = []
    for build in builders:
        with suppress(InvalidMarket):
            found.append(build())
    return found


def _make_stable(pool: Pool, identifier: str, values: Values, template: Template) -> StableSwapPool:
    rates = values.get("stored_rates") or tuple(10 ** max(0, 36 - token.decimals) for token in pool.tokens)
    precise = values.get("A_precise")
    is_ng = "stored_rates" in values
    return StableSwapPool(
        id=identifier,
        protocol=PROTOCOL,
        tokens=pool.tokens,
        balances=values["balances"],
        rates=rates,
        amp=(precise or values["A"])[0],
        amp_precision=100 if precise else 1,
        fee_e10=values["fee"][0],
        admin_fee_e10=values["admin_fee"][0],
        product=template.product,
        spare=template.spare,
        accounting=template.accounting,
        multiplier_e10=values["offpeg_fee_multiplier"][0] if is_ng else 0,
        oracle=is_ng,
    )


def _make_crypto(pool: Pool, identifier: str, values: Values, method: Method) -> CryptoSwapPool:
    profit = None
    if method is Method.CLOSED_FORM:
        profit = Profit(values["price_oracle"], *(values[name][0] for name in PROFIT))
    return CryptoSwapPool(
        id=identifier,
        protocol=PROTOCOL,
        tokens=pool.tokens,
        balances=values["balances"],
        price_scale=values["price_scale"],
        d=values["D"][0],
        ann=values["A"][0],
        gamma=values["gamma"][0],
        mid_fee=values["mid_fee"][0],
        out_fee=values["out_fee"][0],
        fee_gamma=values["fee_gamma"][0],
        method=method,
        profit=profit,
    )


def _make_probes(kind: RegistryKind, pool: Pool, market: CurveMarket) -> list[Call]:
    """Return the pool's own quotes for some pairs and amounts."""
    function, last = (CRYPTO_DY if kind.is_crypto else STABLE_DY), len(pool.tokens) - 1
    pairs = dict.fromkeys(((0, 1), (1, 0), (last, 0), (0, last)))
    return [function(pool.key, i, j, market.balances[i] // share) for i, j in pairs for share in SHARES]


def _choose_candidate(candidates: Sequence[CurveMarket], quotes: Asked) -> CurveMarket | Refused:
    """Return the candidate that agrees best with the pool's own quotes, if it does."""
    if any(min(market.balances) == 0 for market in candidates):
        return Refused("empty")
    wanted = [
        None if outcome.reverted or len(outcome.data) < 32 else call.decode_one(outcome) for call, outcome in quotes
    ]
    errors = [(_measure_error(market, quotes, wanted), place) for place, market in enumerate(candidates)]
    least, place = min(errors)
    return candidates[place] if least <= SLACK else Refused("quotes_differ")


def _measure_error(market: CurveMarket, quotes: Asked, wanted: Sequence[int | None]) -> int:
    """Return by how many units the market's quotes are off at most; where the pool refuses, the market may."""
    worst = 0
    for (call, _), told in zip(quotes, wanted, strict=True):
        sold, bought, amount = (int.from_bytes(call.data[start : start + 32]) for start in (4, 36, 68))
        try:
            hop, _ = market.swap_exact_in(market.tokens[sold], market.tokens[bought], amount)
            found = hop.amount_out
        except QuoteRefused:
            found = 0
        if told is not None and not (found == 0 and told <= SLACK):
            worst = max(worst, abs(found - told))
    return worst
