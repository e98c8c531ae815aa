"""Whether each endpoint of each chain answers, for the right chain, in step with the others and with this clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from adapters.base import AdapterError, BadPayload
from adapters.http.client import HttpLimits, JsonClient
from adapters.rpc.block import Block
from adapters.rpc.endpoint import Answer, Question
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.heads import MAX_HEAD_AGE_S
from api.domain.clock import Clock
from api.domain.env import EnvMode
from api.services.ledger.chain_ledger import QUIET_CHAIN_S, connect_pools
from api.services.operations.doctor.findings import Finding, blame, praise, warn
from api.services.resources import Resources

LIMITS = HttpLimits(connect_s=3.0, read_s=6.0, total_s=8.0, max_bytes=8 * 2**20, tries=1)
FAR_BEHIND = 16
"""Blocks: as `adapters.rpc.heads` leaves an endpoint out."""
AHEAD_S = 15.0
"""A block that is this much younger than now tells that this machine's clock is slow."""
SAMPLES = 8
"""Blocks in which a transaction is looked for, to have it traced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What one endpoint answered.

    Parameters
    ----------
    head : Block or None
        Its newest block; None if it did not answer as it should.
    fault : str
        Why not.
    traces : bool or None
        Whether it traces transactions; None where there was none to trace.
    """

    host: str
    head: Block | None = None
    fault: str = ""
    traces: bool | None = None


def check_chains(resources: Resources) -> Iterator[Finding]:
    """Ask every endpoint of every chain by itself, all at once."""
    asked = [
        (env_mode, chain_id, url)
        for env_mode in EnvMode
        for chain_id, urls in resources.config.rpc_urls(env_mode).items()
        for url in urls
    ]
    if not asked:
        yield praise("chains", "test orders are paid on the simulated ledger; no chain is connected")
        return
    with ThreadPoolExecutor(min(16, len(asked)), thread_name_prefix="doctor") as pool:
        futures = [pool.submit(examine, env_mode, chain_id, url, resources.clock) for env_mode, chain_id, url in asked]
        told = [future.result() for future in futures]
    for env_mode, chain_id in dict.fromkeys((env_mode, chain_id) for env_mode, chain_id, _ in asked):
        checkups = [found for each, found in zip(asked, told, strict=True) if each[:2] == (env_mode, chain_id)]
        about = f"chain {chain_id} ({env_mode})"
        yield from judge(about, checkups, resources.clock)
        if sum(each.head is not None for each in checkups) > 1:
            yield from _compare(about, env_mode, chain_id, resources)


def _compare(about: str, env_mode: EnvMode, chain_id: int, resources: Resources) -> Iterator[Finding]:
    """Have the endpoints of one chain agree on what is final, as those who watch for payments do."""
    urls = resources.config.rpc_urls(env_mode)[chain_id]
    pool = connect_pools({chain_id: urls}, env_mode, resources.clock, LIMITS)[chain_id]
    try:
        pool.read_head()
    except AdapterError as error:
        yield blame(
            about, _shorten(error, chain_id), "mend or exchange it in RPC_URLS; payments there are not seen meanwhile"
        )
    finally:
        pool.close()


def examine(env_mode: EnvMode, chain_id: int, url: str, clock: Clock) -> Checkup:
    """Ask one endpoint for its chain, its head and a trace."""
    oldest_s = QUIET_CHAIN_S if env_mode == EnvMode.TEST else MAX_HEAD_AGE_S
    pool = RpcPool(
        chain_id,
        [url],
        client=JsonClient(limits=LIMITS),
        max_head_age_s=oldest_s,
        clock=lambda: clock.now().timestamp(),
    )
    (health,) = pool.list_health()
    try:
        head = pool.read_head()
        return Checkup(host=health.host, head=head, traces=_can_trace(pool, head))
    except AdapterError as error:
        return Checkup(host=health.host, fault=_shorten(error, chain_id, health.host))
    finally:
        pool.close()


def _shorten(error: AdapterError, chain_id: int, host: str = "") -> str:
    """Return what an error says beside the chain and the host, which the finding names itself."""
    said = str(error).removeprefix(f"chain {chain_id}: ")
    return said.removeprefix(f"{host}: ") if host else said


def judge(about: str, checkups: Sequence[Checkup], clock: Clock) -> Iterator[Finding]:
    """Compare what the endpoints of one chain answered."""
    remedy = "see whether its URL, its key and its chain are right, or exchange it"
    heads = [each.head for each in checkups if each.head is not None]
    found = [blame(about, f"{each.host}: {each.fault}", remedy) for each in checkups if each.head is None]
    for each in checkups:
        lag = max(head.number for head in heads) - each.head.number if each.head is not None else 0
        if lag > FAR_BEHIND:
            found.append(warn(about, f"{each.host} is {lag} blocks behind the others", remedy))
    ahead_s = max((head.timestamp for head in heads), default=0) - clock.now().timestamp()
    if ahead_s > AHEAD_S:
        message = f"its newest block is {ahead_s:.0f} s in the future: this machine's clock is slow"
        found.append(blame(about, message, "let the machine keep time by NTP"))
    if any(each.traces is False for each in checkups) and not any(each.traces for each in checkups):
        found.append(
            warn(
                about,
                "no endpoint traces transactions: coin that a contract sends can't be seen",
                "add an endpoint with debug_traceTransaction (callTracer)",
            )
        )
    if not found:
        word = "traces" if any(each.traces for each in checkups) else "nothing to trace was found"
        found.append(praise(about, f"{len(checkups)} endpoints answer and keep step; {word}"))
    yield from found


def _can_trace(pool: RpcPool, head: Block) -> bool | None:
    """Have a transaction traced; None where none of the last blocks has one, or nobody answers."""
    numbers = range(head.number, max(-1, head.number - SAMPLES), -1)
    questions: list[Question] = [("eth_getBlockByNumber", [hex(number), False]) for number in numbers]
    try:
        sample = pool.ask(questions, _find_transaction)
        if sample is None:
            return None
        return pool.ask([("debug_traceTransaction", [sample, {"tracer": "callTracer"}])], _is_trace)
    except AdapterError:
        return None


def _find_transaction(answers: list[Answer]) -> str | None:
    for block in answers:
        hashes: Any = block.get("transactions") if isinstance(block, dict) else None
        if not isinstance(hashes, list):
            raise BadPayload("a block without a list of transactions")
        if hashes and isinstance(hashes[0], str):
            return hashes[0]
    return None


def _is_trace(answers: list[Answer]) -> bool:
    return isinstance(answers[0], dict) and "from" in answers[0]
