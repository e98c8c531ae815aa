"""A route and its parts, all exact integers: what the router promises."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from routing_engine.amounts import write_duration
from routing_engine.frames.column import Column
from routing_engine.frames.hops import describe_hops
from routing_engine.frames.table import Table
from routing_engine.model import Fee, Hop, Token
from routing_engine.paths import Path, decompose
from routing_engine.reference.chains import block_time_s
from routing_engine.values import seal


class Side(StrEnum):
    """Which amount of a request is fixed."""

    EXACT_IN = "exact_in"
    EXACT_OUT = "exact_out"


SideName = Literal["exact_in", "exact_out"]
"""A `Side` as callers write it."""


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Leg:
    """Hops that share one transaction on one chain; its bridge hops end it."""

    hops: tuple[Hop, ...]

    @property
    def chain_id(self) -> int:
        """Chain on which the transaction is sent."""
        return self.hops[0].token_in.chain_id

    @property
    def fill_time_s(self) -> int:
        """Seconds until its last output can be used: one block, and the slowest bridge's fill."""
        return block_time_s(self.chain_id) + max(hop.fill_time_s for hop in self.hops)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(hop.protocol for hop in self.hops))
        return f"Leg(chain {self.chain_id}: {_count(len(self.hops), 'hop')} over {names}; {self.fill_time_s} s)"


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Table):
    """Hops from one token to another: one path, or a network of paths that divide and meet.

    As a table it has a row for each hop.

    Parameters
    ----------
    token_in, token_out : Token
        The ends.
    side : Side
        Which amount was fixed.
    hops : tuple of Hop
        In an order in which they can run: at every token between the ends they spend what the hops before produced, to
        the unit. Each market appears once.
    gas_cost_in, gas_cost_out : int
        The gas of all hops, and what bridges ask for in the chain's coin, valued in `token_in` and in `token_out` at
        the snapshot's prices, rounded up. An estimate: 0 where `gas_priced` is false.
    gas_priced : bool
        Whether gas prices and native prices were known for every chain used.
    """

    token_in: Token
    token_out: Token
    side: Side
    hops: tuple[Hop, ...]
    gas_cost_in: int = 0
    gas_cost_out: int = 0
    gas_priced: bool = False

    @property
    def amount_in(self) -> int:
        """Smallest units of `token_in` spent."""
        return sum([hop.amount_in for hop in self.hops if hop.token_in == self.token_in])

    @property
    def amount_out(self) -> int:
        """Smallest units of `token_out` received, exact."""
        return sum([hop.amount_out for hop in self.hops if hop.token_out == self.token_out])

    @property
    def amount_out_net(self) -> int:
        """Output after gas, valued in `token_out`; negative where gas eats more than the trade gives."""
        return self.amount_out - self.gas_cost_out

    @property
    def amount_in_gross(self) -> int:
        """Input plus gas, valued in `token_in`."""
        return self.amount_in + self.gas_cost_in

    @property
    def net_amount(self) -> int:
        """What routes of one request are compared by: `amount_out_net`, or `amount_in_gross` for exact-out."""
        return self.amount_in_gross if self.side is Side.EXACT_OUT else self.amount_out_net

    @property
    def paths(self) -> tuple[Path, ...]:
        """The hops seen as parallel paths, the largest first.

        Each path spends, to the unit, what its hop before gave. Where paths share a hop, each shows its share of the
        amounts, the fees and the gas; all paths together show what the hop shows, but for shares below a
        unit. Of few units, a later share may be 0.

        Paths that are searched are merged, and what is merged is taken apart anew. So there may be more paths than the
        request's `max_splits`, and paths of more hops than its `max_hops`. A share of the input that is less than a
        unit is no path, and what it would give is in none.
        """
        return decompose(self.hops, self.token_in, self.token_out)

    @property
    def legs(self) -> tuple[Leg, ...]:
        """One leg for each chain on which a transaction is sent, in order."""
        chains = dict.fromkeys(hop.token_in.chain_id for hop in self.hops)
        return tuple(Leg(tuple(hop for hop in self.hops if hop.token_in.chain_id == chain)) for chain in chains)

    @property
    def gas(self) -> int:
        """Gas units over all hops and chains."""
        return sum(hop.gas for hop in self.hops)

    @property
    def fill_time_s(self) -> int:
        """Seconds until the last part arrives: transactions wait for each other, parallel ones do not."""
        chain_id = self.token_in.chain_id
        if not [hop for hop in self.hops if hop.token_out.chain_id != chain_id]:
            last_hops = [hop.fill_time_s for hop in self.hops if hop.token_out == self.token_out]
            return block_time_s(chain_id) + max(last_hops)
        ready = {self.token_in: 0}
        last = 0
        for hop in self.hops:
            start, block = ready[hop.token_in], block_time_s(hop.token_in.chain_id)
            done = start + block + hop.fill_time_s
            ready[hop.token_out] = max(ready.get(hop.token_out, 0), done if hop.is_bridge else start)
            if hop.token_out == self.token_out:
                last = max(last, done)
        return last

    @property
    def fees(self) -> tuple[Fee, ...]:
        """Fees of all hops, summed by token and kind, in order of appearance."""
        sums: dict[tuple[Token, str, bool], int] = {}
        for hop in self.hops:
            for fee in hop.fees:
                key = (fee.token, fee.name, fee.included)
                sums[key] = sums.get(key, 0) + fee.amount
        return tuple(
            Fee(amount=amount, token=token, name=name, included=included)
            for (token, name, included), amount in sums.items()
        )

    @property
    def price_impact(self) -> float:
        """Fraction lost to the amount's own size: against the same hops at their spot prices; informational."""
        amount_in = float(self.amount_in)
        amounts = {self.token_in: (amount_in, amount_in)}
        for hop in self.hops:
            ideal, actual = amounts[hop.token_in]
            bonus = ideal / actual / max(1.0 - hop.price_impact, 1e-18)
            ideal, actual = amounts.get(hop.token_out, (0.0, 0.0))
            amounts[hop.token_out] = ideal + hop.amount_out * bonus, actual + hop.amount_out
        ideal, actual = amounts[self.token_out]
        return max(0.0, 1.0 - actual / ideal)

    @property
    def price(self) -> float:
        """Whole tokens out per whole token in; informational."""
        paid = self.amount_in * 10**self.token_out.decimals
        return self.amount_out * 10**self.token_in.decimals / paid if paid else 0.0

    @property
    def fingerprint(self) -> str:
        """Short hash of markets and directions: equal for routes that differ only in amounts and the order of hops."""
        edges = sorted([hop.market_id, hop.token_in.key, hop.token_out.key] for hop in self.hops)
        return hashlib.blake2b(json.dumps(edges).encode(), digest_size=8).hexdigest()

    @property
    def summary(self) -> str:
        """What it is in one short line: amounts cut to a few digits, paths, markets, chains, and the time."""
        chains = dict.fromkeys(token.chain_id for hop in self.hops for token in (hop.token_in, hop.token_out))
        paid, received = self.token_in.show(self.amount_in), self.token_out.show(self.amount_out)
        size = f"{_count(len(self.paths), 'path')} over {_count(len(self.hops), 'market')}"
        where = f"chain{'s' * (len(chains) > 1)} {', '.join(map(str, chains))}"
        return f"{paid} → {received}; {size}; {where}; {write_duration(self.fill_time_s)}"

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each hop; see `Table`."""
        return describe_hops(self.hops)

    def __str__(self) -> str:
        """Return a line for each path, the largest first."""
        return "\n".join(map(str, self.paths))

    def __repr__(self) -> str:
        return f"Route({self.summary})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
