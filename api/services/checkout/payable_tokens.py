"""The tokens that a customer may choose from, best first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from api.services.orders.chain_reads import list_unread
from api.services.orders.views import PublicOrder, load_public_order
from api.services.resources import Resources
from api.services.routing.token_serializers import describe_chain, is_stable
from routing_engine import Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

if TYPE_CHECKING:
    from routing_engine import Snapshot

DOLLARS = ("USDC", "USDT", "DAI")
"""After the chain's own coin, before the other stablecoins."""

MAJORS = ("WETH", "WBTC", "cbBTC", "wstETH")
"""After all stablecoins, before the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayableToken:
    """One choice; the address in lower case."""

    token: Token
    name: str
    logo_uri: str
    is_settlement: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PayableChain:
    """A chain's descriptor, as in the interface, and its choices."""

    chain: dict[str, Any]
    tokens: tuple[PayableToken, ...]


def list_payable_tokens(resources: Resources, order_id: str) -> tuple[PayableChain, ...]:
    """Return the chains and tokens that an order may be paid with; none where it can't be paid.

    The settlement token's chain and, on it, the settlement token come first. Then the chain's own coin, the great
    dollars, other stablecoins, majors, and the rest by name. All but the first are listed tokens that the market
    trades; whether a route can take the amount, the quote says. Orders on real chains are paid on those only that can
    be reached, and that somebody reads.

    Raises
    ------
    NotFound
        If there is no such order.
    """
    order = load_public_order(resources, order_id)
    settled = find_settlement_token(order)
    if not order.payable or settled is None:
        return ()
    by_chain = _list_tokens(resources.market.snapshot)
    access = resources.chain_access.get(order.env_mode)
    reachable = CHAINS.keys() if access is None else CHAINS.keys() & access.chains.keys()
    reachable -= list_unread(resources, order.env_mode, order.created_at)
    chains = sorted(reachable, key=lambda chain_id: (chain_id != settled.chain_id, list(CHAINS).index(chain_id)))
    grouped = (
        PayableChain(
            chain=describe_chain(CHAINS[chain_id]),
            tokens=_put_settlement_first(settled, chain_id, by_chain.get(chain_id, ())),
        )
        for chain_id in chains
    )
    return tuple(group for group in grouped if group.tokens)


def list_unseen_chains(resources: Resources, order: PublicOrder) -> tuple[int, ...]:
    """Return the chains that are left out of the choice, since nobody reads them just now."""
    access = resources.chain_access.get(order.env_mode)
    if access is None or not order.payable:
        return ()
    return tuple(sorted(access.chains.keys() & list_unread(resources, order.env_mode, order.created_at)))


def find_settlement_token(order: PublicOrder) -> Token | None:
    """Return the token that settles an order, or None where the merchant has no account for it."""
    if order.settlement_chain_id is None or order.settlement_token_address is None:
        return None
    return Token(
        chain_id=order.settlement_chain_id,
        address=order.settlement_token_address,
        symbol=order.settlement_token_symbol or "",
        decimals=order.settlement_token_decimals or 0,
    )


@lru_cache(maxsize=1)
def _list_tokens(snapshot: Snapshot) -> dict[int, tuple[Token, ...]]:
    """Return the listed tokens of a market by chain, the most useful first."""
    found: dict[int, list[Token]] = {}
    for token in snapshot.tokens:
        if token.chain_id in CHAINS and token_registry.info_of(token.chain_id, token.address) is not None:
            found.setdefault(token.chain_id, []).append(token)
    return {chain_id: tuple(sorted(tokens, key=_rank_usefulness)) for chain_id, tokens in found.items()}


def _rank_usefulness(token: Token) -> tuple[int, int, str]:
    if token.is_native:
        return (0, 0, "")
    if token.symbol in DOLLARS:
        return (1, DOLLARS.index(token.symbol), "")
    if is_stable(token):
        return (2, 0, token.symbol.casefold())
    if token.symbol in MAJORS:
        return (3, MAJORS.index(token.symbol), "")
    return (4, 0, token.symbol.casefold())


def _put_settlement_first(settled: Token, chain_id: int, tokens: tuple[Token, ...]) -> tuple[PayableToken, ...]:
    """Put the settlement token first on its chain, also where no market trades it: it can be transferred."""
    here = (settled,) if chain_id == settled.chain_id else ()
    ordered = (*here, *(token for token in tokens if token != settled))
    return tuple(_describe_choice(token, is_settlement=token == settled) for token in ordered)


def _describe_choice(token: Token, *, is_settlement: bool) -> PayableToken:
    info = token_registry.info_of(token.chain_id, token.address)
    name, logo_uri = (info.name, info.logo_uri) if info else (token.symbol, "")
    return PayableToken(token=token, name=name, logo_uri=logo_uri, is_settlement=is_settlement)
