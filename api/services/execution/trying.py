"""The first legs of a route tried out together, as their payer would send them one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import token_bytes
from typing import TYPE_CHECKING

from adapters.base import AdapterError, Declined
from adapters.transactions.base import CannotBuild, PaymentCall, PlannedHop, Spending, Terms, Transaction
from adapters.transactions.decoded import REFERENCE_BYTES
from adapters.transactions.payment_builders import list_transactions
from adapters.transactions.simulation import WouldFail
from api.services.chains.trials import (
    BridgeAsksMore,
    confirm_bridge,
    find_bridge,
    is_swapped,
    list_needs,
    read_allowances,
)
from api.services.chains.wallets import is_same_wallet
from api.services.execution.legs import RouteLeg, add_tolerance, take_tolerance
from api.services.execution.offers import LegOffer, LegStatus, Untried
from routing_engine import Side, Token

if TYPE_CHECKING:
    from adapters.transactions.simulation import PaymentChain, Simulation
    from api.services.chains.chain_access import ChainAccess

LEFT_OVER = 1
"""What may be left of an allowance that a call did not use up: something, of which nobody knows how much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wallet:
    """Whose money a route spends and who gets it in the end, on which terms.

    Parameters
    ----------
    payer, recipient : str
        Addresses in lower case.
    side : Side
        Which amount is fixed.
    slippage_bps : int
        How far the other one may move, in 1/10000.
    """

    payer: str
    recipient: str
    side: Side
    slippage_bps: int

    def make_offer(self, leg: RouteLeg, status: LegStatus, message: str) -> LegOffer:
        """Return a leg without transactions."""
        return LegOffer(
            leg=leg,
            status=status,
            message=message,
            sender=self.payer,
            recipient=self.find_recipient(leg),
            amount_in_max=leg.most_in(self.side, self.slippage_bps),
            amount_out_min=leg.least_out(self.side, self.slippage_bps),
        )

    def find_recipient(self, leg: RouteLeg) -> str:
        """Return who gets what a leg gives: what the next leg spends goes to the payer, who signs that as well."""
        return self.recipient if leg.is_last else self.payer


@dataclass(slots=True, kw_only=True)
class LegTrials:
    """Tries the legs that spend what a wallet has, each after those before it.

    Parameters
    ----------
    access : ChainAccess
        To the chains.
    wallet : Wallet
        Whose.
    deadline : int
        Seconds since 1970 after which contracts refuse what was signed.
    """

    access: ChainAccess
    wallet: Wallet
    deadline: int
    _batch: tuple[Transaction, ...] = ()
    _held: dict[Token, int] = field(default_factory=dict)
    _allowed: dict[tuple[Token, str, str], tuple[int, int]] = field(default_factory=dict)

    def try_leg(self, leg: RouteLeg) -> LegOffer:
        """Return a leg with transactions that were tried, or with the reason why there are none.

        Whatever a chain or a bridge does, it is told as a reason, in words of this service: what a node says may name
        its address and key.
        """
        try:
            return self._try_leg(leg)
        except Untried as reason:
            return self.wallet.make_offer(leg, reason.status, reason.message)
        except WouldFail as fault:
            said = f": {fault.reason}" if fault.reason else ""
            return self.wallet.make_offer(leg, LegStatus.WOULD_FAIL, f"It would fail now{said}")
        except BridgeAsksMore:
            message = "The bridge delivers less by now than the tolerance allows; ask for new routes"
            return self.wallet.make_offer(leg, LegStatus.PRICE_MOVED, message)
        except Declined:
            message = "The bridge does not take this just now; choose another route"
            return self.wallet.make_offer(leg, LegStatus.BRIDGE_DECLINES, message)
        except CannotBuild:
            return self.wallet.make_offer(leg, LegStatus.NO_BUILDER, "No single transaction does this on these terms")
        except AdapterError:
            message = "The chain or the bridge does not answer; ask again"
            return self.wallet.make_offer(leg, LegStatus.NO_ANSWER, message)

    def _try_leg(self, leg: RouteLeg) -> LegOffer:
        wallet, chain = self.wallet, self.access.chains[leg.token_in.chain_id]
        recipient = wallet.find_recipient(leg)
        if leg.is_bridge and not leg.is_last:
            self._require_payer_there(leg.token_in.chain_id, leg.token_out.chain_id)
        hops, terms = self._agree(leg, recipient)
        call = self.access.builders.build(hops, leg.token_in, terms)
        needs = dict(list_needs(call, leg.token_in, terms.amount_in_max))
        self._require_funds(chain, needs)
        allowed = self._find_allowances(chain, call.spending)
        tried = chain.simulate((*self._batch, *list_transactions(call, *allowed)), wallet.payer, recipient)
        _require_arrival(leg, tried, terms.amount_out)
        own = tried.transactions[len(self._batch) :]
        self._go_on(call, own, needs, allowed, terms)
        return self._offer(leg, call, own, terms, recipient, is_swapped(hops))

    def _agree(self, leg: RouteLeg, recipient: str) -> tuple[tuple[PlannedHop, ...], Terms]:
        """Return what is built and on which terms, as far as there is a bridge as that confirms them."""
        side, slippage_bps = self.wallet.side, self.wallet.slippage_bps
        terms = Terms(
            payer=self.wallet.payer,
            recipient=recipient,
            amount_in_max=leg.most_in(side, slippage_bps),
            amount_out=leg.least_out(side, slippage_bps),
            deadline=self.deadline,
            # No two burns of CCTP are alike with it, so that each is followed to its own mint.
            reference=token_bytes(REFERENCE_BYTES),
            spends_all=side is Side.EXACT_IN,
        )
        bridge = find_bridge(leg.hops)
        if bridge is None:
            return leg.hops, terms
        first = largest = bridge.hop.amount_in
        if side is Side.EXACT_OUT:
            largest = add_tolerance(largest, slippage_bps)
        elif is_swapped(leg.hops):  # what a swap makes at least is deposited, and the rest goes back to the payer
            first = take_tolerance(first, slippage_bps)
        return confirm_bridge(self.access.firm, leg.hops, terms, first=first, largest=largest)

    def _require_payer_there(self, chain_id: int, other_id: int) -> None:
        if not is_same_wallet(self.access.chains, self.wallet.payer, chain_id, other_id):
            message = (
                f"The next leg begins with the payer on chain {other_id}, where nobody says that its contract is the"
                " same; ask for a route without a leg there"
            )
            raise Untried(LegStatus.PAYER_CANNOT_RECEIVE, message)

    def _require_funds(self, chain: PaymentChain, needs: dict[Token, int]) -> None:
        for token, needed in needs.items():
            if needed and token not in self._held:
                self._held[token] = chain.read_balance(token, self.wallet.payer)
            if needed > self._held.get(token, 0):
                held = self._held[token]
                message = (
                    f"The payer has {held} of {token.symbol} on chain {token.chain_id}, and {needed} are needed, in its"
                    " smallest unit and without gas"
                )
                raise Untried(LegStatus.BALANCE_TOO_LOW, message)

    def _find_allowances(self, chain: PaymentChain, spending: Spending | None) -> tuple[int, int]:
        """Return what a spender may take once the legs before are done."""
        if spending is None:
            return 0, 0
        known = self._allowed.get((spending.token, spending.spender, spending.user))
        return known if known is not None else read_allowances(chain, spending, self.wallet.payer)

    def _go_on(
        self,
        call: PaymentCall,
        own: tuple[Transaction, ...],
        needs: dict[Token, int],
        allowed: tuple[int, int],
        terms: Terms,
    ) -> None:
        """Let the next leg be tried after this one."""
        self._batch += own
        for token, needed in needs.items():
            self._held[token] = self._held.get(token, 0) - needed
        spending = call.spending
        if spending is not None:
            rest = 0 if terms.spends_all else LEFT_OVER
            left, granted = (each - spending.amount if each >= spending.amount else rest for each in allowed)
            self._allowed[spending.token, spending.spender, spending.user] = left, granted

    def _offer(
        self,
        leg: RouteLeg,
        call: PaymentCall,
        own: tuple[Transaction, ...],
        terms: Terms,
        recipient: str,
        is_swap: bool,
    ) -> LegOffer:
        tried = tuple(each for each in own if each.gas is not None)
        is_whole = len(tried) == len(own)
        message = "" if is_whole else "The node tries one transaction at a time: send those before it, then ask again"
        return LegOffer(
            leg=leg,
            status=LegStatus.READY if is_whole else LegStatus.APPROVE_FIRST,
            message=message,
            sender=self.wallet.payer,
            recipient=recipient,
            amount_in_max=terms.amount_in_max,
            amount_out_min=terms.amount_out,
            transactions=tried,
            spending=call.spending,
            deadline=terms.deadline if is_swap or not leg.is_bridge else None,
            fill_deadline=call.fill_deadline,
        )


def _require_arrival(leg: RouteLeg, tried: Simulation, least: int) -> None:
    """Refuse what brings less than is said; what a bridge delivers arrives elsewhere."""
    if tried.received is None or leg.is_bridge:
        return
    if tried.received.get(leg.token_out.address, 0) < least:
        raise Untried(LegStatus.WOULD_FAIL, "It would bring less than the tolerance allows")
