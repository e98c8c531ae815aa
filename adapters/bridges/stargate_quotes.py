"""Firm quotes of Stargate: its pools' own answers at the newest block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from adapters.base import BadPayload, Declined, FirmQuote
from adapters.bridges.common import confirmed
from adapters.bridges.stargate import QUOTE_OFT, QUOTE_SEND, contract_of, order_of, path_of, read_paths
from adapters.chain.deployments import deployments_of
from adapters.chain.protocol import Pool
from adapters.rpc.reading import Reading, Responder, ask, run
from routing_engine.fixed_point import rescale
from routing_engine.model import Hop
from routing_engine.reference import token_registry


class StargateQuotes:
    """Asks the pool of a hop what it would do now.

    Parameters
    ----------
    newest : callable
        Gives who answers for a chain at its newest block; raises `Declined` for a chain that cannot be reached.
    """

    protocols = ("stargate",)

    def __init__(self, newest: Callable[[int], Responder]) -> None:
        self._newest = newest

    def firm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Ask the pool for this amount; the terms are those of ``send``, its ``SendParam`` and ``MessagingFee``."""
        path = _path_of(hop)
        to = bytes(12) + bytes.fromhex(recipient.removeprefix("0x"))
        return run(_quoted(path, hop, to), self._newest(hop.token_in.chain_id))


def _path_of(hop: Hop) -> Pool:
    info = token_registry.info_of(hop.token_in.chain_id, hop.token_in.address)
    for facts in deployments_of("stargate", hop.token_in.chain_id):
        if info is not None and facts.text("symbol") == info.symbol:
            return path_of(hop.token_in.chain_id, facts.address("pool"), info.symbol, hop.token_out.chain_id)
    raise Declined(f"stargate: {hop.token_in} has no pool", status=200)


def _quoted(path: Pool, hop: Hop, to: bytes) -> Reading[FirmQuote]:
    states = yield from read_paths((path,), to)
    lane, reason = states[path.key].lane, states[path.key].reason
    if lane is None:
        raise Declined(f"stargate {path.key}: {reason}", status=200)
    contract, order = contract_of(path), order_of(path, to, hop.amount_in)
    calls = QUOTE_OFT(contract, order), QUOTE_SEND(contract, order, False)
    quote, price = yield from ask(calls)
    *_, received = calls[0].decode(quote)
    native_fee, _ = calls[1].decode(price)
    firm = confirmed(replace(lane, native_fee=native_fee), hop)
    if firm.amount_out != rescale(received, hop.token_in.decimals, hop.token_out.decimals):
        raise BadPayload(f"stargate {path.key}: quotes {received} where its state gives {firm.amount_out}")
    terms: dict[str, object] = {
        "contract": contract,
        "dstEid": path.number(1),
        "to": "0x" + to.hex(),
        "amountLD": hop.amount_in,
        "minAmountLD": received,
        "nativeFee": native_fee,
    }
    return FirmQuote(hop=firm, terms=terms)
