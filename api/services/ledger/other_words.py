"""What another endpoint says of transactions that paid nobody, as the one says that answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import structlog

from adapters.base import AdapterError
from adapters.rpc.block import Block as Header
from adapters.rpc.endpoint import Answer, Question
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.single_endpoint import Asker, SingleEndpoint
from api.services.ledger.evidence.traces import CallTree, UnbelievableTrace, read_trace, trace_question
from api.services.ledger.transfers import Mined

log = structlog.get_logger(__name__)


def list_others(rpc: Asker) -> Sequence[SingleEndpoint]:
    """Return the endpoints of a pool that are in step, without the one that answered last; of a single one none."""
    singles = rpc.list_singles() if isinstance(rpc, RpcPool) else ()
    return [each for each in singles if each.in_step and each.host != rpc.answered_by]


def trace_elsewhere(endpoints: Sequence[SingleEndpoint], mined: Mined, at: Header | None) -> CallTree | None:
    """Return the calls as the first of these endpoints tells them that does; None where none does."""
    sent = mined.transaction
    for each in endpoints:
        try:
            (answer,) = each.ask([trace_question(sent.tx_hash)], list, at)
            return read_trace(answer, sent, mined.receipt)
        except (AdapterError, UnbelievableTrace) as fault:
            log.info("no_second_trace", chain_id=mined.chain_id, host=each.host, reason=str(fault))
    return None


def find_doubted_failures(
    endpoints: Sequence[SingleEndpoint], tx_hashes: Collection[str], at: Header | None
) -> Collection[str]:
    """Return those of the transactions that the first of these endpoints that answers does not say to have failed.

    All of them, where none answers; none of them, where there is no other endpoint.
    """
    questions: list[Question] = [("eth_getTransactionReceipt", [each]) for each in tx_hashes]
    for endpoint in endpoints if questions else ():
        try:
            told: list[Answer] = endpoint.ask(questions, list, at)
        except AdapterError as fault:
            log.info("no_second_receipt", chain_id=endpoint.chain_id, host=endpoint.host, reason=str(fault))
            continue
        return [each for each, receipt in zip(tx_hashes, told, strict=True) if not _has_failed(receipt)]
    return tx_hashes if endpoints else ()


def _has_failed(receipt: Answer) -> bool:
    return isinstance(receipt, dict) and receipt.get("status") == "0x0"
