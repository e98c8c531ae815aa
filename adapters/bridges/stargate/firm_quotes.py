"""Firm quotes of Stargate: its pools' own answers at the newest block."""

from __future__ import annotations

from dataclasses import replace

from adapters.base import BadPayload, Declined, FirmQuote
from adapters.bridges.base import Newest
from adapters.bridges.common import confirm_hop
from adapters.bridges.stargate.protocol import QUOTE_OFT, QUOTE_SEND, get_contract, make_order, make_path, read_paths
from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import Pool
from adapters.rpc.reading import Reading, ask, run
from routing_engine.fixed_point import rescale
from routing_engine.model import Hop
from routing_engine.reference import token_registry


class StargateQuotes:
    """Asks the pool of a hop what it would do now.

    Parameters
    ----------
    read_newest : callable
        Gives who answers for a chain.
    """

    protocols = ("stargate",)

    def __init__(self, read_newest: Newest) -> None:
        self._read_newest = read_newest

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Ask the pool for this amount; the terms are those of ``send``, its ``SendParam`` and ``MessagingFee``."""
        path = _find_path(hop)
        to = bytes(12) + bytes.fromhex(recipient.removeprefix("0x"))
        return run(_read_quote(path, hop, to), self._read_newest(hop.token_in.chain_id))


def _find_path(hop: Hop) -> Pool:
    info = token_registry.info_of(hop.token_in.chain_id, hop.token_in.address)
    for facts in read_deployments("stargate", hop.token_in.chain_id):
        if info is not None and facts.get_text("symbol") == info.symbol:
            return make_path(hop.token_in.chain_id, facts.get_address("pool"), info.symbol, hop.token_out.chain_id)
    raise Declined(f"stargate: {hop.token_in} has no pool", status=200)


def _read_quote(path: Pool, hop: Hop, to: bytes) -> Reading[FirmQuote]:
    states = yield from read_paths((path,), to)
    lane, reason = states[path.key].lane, states[path.key].reason
    if lane is None:
        raise Declined(f"stargate {path.key}: {reason}", status=200)
    contract, order = get_contract(path), make_order(path, to, hop.amount_in)
    calls = QUOTE_OFT(contract, order), QUOTE_SEND(contract, order, False)
    quote, price = yield from ask(calls)
    *_, received = calls[0].decode(quote)
    native_fee, _ = calls[1].decode(price)
    firm = confirm_hop(replace(lane, native_fee=native_fee), hop)
    if firm.amount_out != rescale(received, hop.token_in.decimals, hop.token_out.decimals):
        raise BadPayload(f"stargate {path.key}: quotes {received} where its state gives {firm.amount_out}")
    terms: dict[str, object] = {
        "contract": contract,
        "dstEid": path.get_number(1),
        "to": "0x" + to.hex(),
        "amountLD": hop.amount_in,
        "minAmountLD": received,
        "nativeFee": native_fee,
    }
    return FirmQuote(hop=firm, terms=terms)
