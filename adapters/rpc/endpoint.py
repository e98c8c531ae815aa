"""One JSON-RPC endpoint of one chain: batches, chain id, faults told apart from refusals."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

from adapters.base import AdapterError, BadPayload, Client, Declined, TooLarge, VenueUnavailable
from adapters.http.circuit_breaker import Breaker, BreakerOpen
from adapters.rpc.abi import read_quantity
from adapters.rpc.endpoint_health import EndpointHealth

Question: TypeAlias = tuple[str, list[Any]]
"""Method and parameters."""
Answer: TypeAlias = Any
"""What a JSON parser gives, or `RpcRefused`."""
Parsed = TypeVar("Parsed")

LARGEST_BATCH = 50
ANYBODYS = frozenset({"debug_traceTransaction", "eth_getLogs", "eth_getBlockReceipts"})
"""What anybody can make large: a long answer to such a question says nothing of the endpoint."""
FAILURES = 3
AWAY_S = 10.0
"""How long one that was away is asked nothing at most: once it is back, customers wait for what its chain tells."""
WRONG_CHAIN_PAUSE_S = 300.0
CHECK_CHAIN_S = 60.0
"""How long an endpoint that answers is believed to be of its chain: what is behind a URL may change at any time."""
LONGEST_MESSAGE = 200

REVERTED, REVERTED_WORD = 3, "reverted"
OVERLOADED = (-32005, -32029, 429)
OVERLOADED_WORDS = ("rate limit", "too many requests", "compute units", "daily request")
TOO_MUCH_WORDS = ("results", "response size", "too many logs")
BEHIND_WORDS = ("header not found", "unknown block", "block not found", "missing trie node", "pruned", "not available")


class RpcRefused(AdapterError):
    """The endpoint understood and refused: a revert, too wide a range, too large an answer.

    Parameters
    ----------
    host : str
        Who refused.
    said : str
        Its message.
    number : int
        The error's code.
    data : object
        What came with it: of a revert, the data that the contract returned.
    """

    code = "rpc_refused"

    def __init__(self, host: str, said: str, *, number: int = 0, data: Any = None) -> None:
        super().__init__(f"{host}: {said} (code {number})")
        self.said, self.number, self.data = said, number, data


class TooMuch(RpcRefused):
    """The answer is larger than the endpoint gives, or anybody takes; to a narrower question it may be small enough."""


class LacksBlock(AdapterError):
    """The endpoint is well, but does not have this block's state: not yet, or no more."""

    code = "lacks_block"


def make_breaker(host: str, clock: Callable[[], float] = time.monotonic) -> Breaker:
    """Return the breaker of an endpoint, which is asked again soon after it was away."""
    return Breaker(host, failures=FAILURES, max_cooldown_s=AWAY_S, clock=clock)


class Endpoint:
    """A node, or a provider of nodes.

    The chain id is asked at first use, again after every failure, and each minute: behind a URL, anything may come.

    Parameters
    ----------
    chain_id : int
        What it must answer.
    url : str
        Where it is.
    client : Client
        Puts a question once; tries again are the pool's business.
    make_breaker : callable
        Makes this endpoint's own breaker, which counts garbage as failure too.
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(
        self,
        chain_id: int,
        url: str,
        client: Client,
        make_breaker: Callable[[str], Breaker] = make_breaker,
        *,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        self.host = urlsplit(url).netloc.rpartition("@")[2] or url
        self.head: int | None = None
        self.in_step = self.answers = True
        self.requests = 0
        self._chain_id, self._url, self._client = chain_id, url, client
        self._breaker = make_breaker(self.host)
        self._stopwatch, self._known_at = stopwatch, -math.inf
        self._other_chain: int | None = None
        self._batch_size = LARGEST_BATCH
        self._fault = ""

    @property
    def health(self) -> EndpointHealth:
        """Present state."""
        return EndpointHealth(
            host=self.host,
            state=self._breaker.state,
            head=self.head,
            fault=self._fault,
            in_step=self.in_step,
            answers=self.answers,
            other_chain=self._other_chain,
        )

    def ask(self, questions: Sequence[Question], parse: Callable[[list[Answer]], Parsed]) -> Parsed:
        """Put questions in as few batches as it takes, and parse the answers: a result or a refusal each.

        Raises
        ------
        VenueUnavailable
            If it does not answer, answers garbage, is overloaded, or is another chain.
        LacksBlock
            If it does not have the state that is asked for.
        """
        try:
            with self._breaker.attempt():
                try:
                    return parse(self._collect_answers(questions))
                except BadPayload as garbage:
                    raise VenueUnavailable(f"{self.host}: {garbage}") from garbage
        except BreakerOpen as closed:
            raise VenueUnavailable(f"{closed} ({self._fault})", retry_after_s=closed.retry_after_s) from closed
        except VenueUnavailable as fault:
            self._known_at = -math.inf
            self._fault = str(fault)
            raise

    def _collect_answers(self, questions: Sequence[Question]) -> list[Answer]:
        if self._stopwatch() - self._known_at >= CHECK_CHAIN_S:
            self._check_chain()
        answers, size = list[Answer](), self._batch_size
        while len(answers) < len(questions):
            batch = questions[len(answers) : len(answers) + size]
            told = self._put(batch)
            answers += told or ()
            size = size if told else max(1, len(batch) // 2)
        return answers

    def _check_chain(self) -> None:
        answer = (self._put([("eth_chainId", [])]) or [None])[0]
        chain_id = read_quantity({"chain id": answer}, "chain id")
        self._other_chain = None if chain_id == self._chain_id else chain_id
        if self._other_chain is not None:
            message = f"{self.host}: is chain {chain_id}, not {self._chain_id}; check the URL"
            raise VenueUnavailable(message, retry_after_s=WRONG_CHAIN_PAUSE_S)
        self._known_at = self._stopwatch()

    def _put(self, batch: Sequence[Question]) -> list[Answer] | None:
        """Send one batch; give None where it was refused as a whole, and take smaller ones from now on.

        What made an answer too large may have been a stranger: only these questions are divided then.
        """
        body = [
            {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
            for number, (method, parameters) in enumerate(batch)
        ]
        self.requests += 1
        try:
            document = self._client.post(self._url, body[0] if len(body) == 1 else body)
        except (Declined, TooLarge) as error:
            if len(batch) > 1:
                self._batch_size = len(batch) // 2 if isinstance(error, Declined) else self._batch_size
                return None
            if isinstance(error, Declined) or batch[0][0] not in ANYBODYS:
                raise VenueUnavailable(str(error)) from error
            return [TooMuch(self.host, str(error))]
        except BadPayload as error:
            raise VenueUnavailable(str(error)) from error
        if len(batch) == 1 and isinstance(document, dict):
            return [self._read_result(document)]
        if isinstance(document, dict) and isinstance(self._read_result(document), RpcRefused):
            self._batch_size = len(batch) // 2
            return None
        return self._sort(document, len(batch))

    def _sort(self, document: Any, count: int) -> list[Answer]:
        """Bring answers into the order of their questions."""
        if not isinstance(document, list):
            raise VenueUnavailable(f"{self.host}: answers {type(document).__name__} to a batch")
        by_id = {
            answer["id"]: answer
            for answer in document
            if isinstance(answer, dict) and isinstance(answer.get("id"), int)
        }
        if len(document) != count or set(by_id) != set(range(count)):
            raise VenueUnavailable(f"{self.host}: a batch of {count} has {len(document)} answers, or wrong ids")
        return [self._read_result(by_id[number]) for number in range(count)]

    def _read_result(self, answer: dict[str, Any]) -> Answer:
        if "error" not in answer or answer["error"] is None:
            if "result" not in answer:
                raise VenueUnavailable(f"{self.host}: an answer has neither result nor error")
            return answer["result"]
        error = answer["error"] if isinstance(answer["error"], dict) else {"message": answer["error"]}
        message, number = str(error.get("message", ""))[:LONGEST_MESSAGE], error.get("code")
        number = number if isinstance(number, int) else 0
        said = message.lower()
        # What stands behind "reverted" are a contract's words, which say nothing about the endpoint.
        if number != REVERTED and REVERTED_WORD not in said:
            if any(words in said for words in TOO_MUCH_WORDS):
                return TooMuch(self.host, message, number=number)
            if number in OVERLOADED or any(words in said for words in OVERLOADED_WORDS):
                raise VenueUnavailable(f"{self.host}: overloaded ({message})")
            if any(words in said for words in BEHIND_WORDS):
                raise LacksBlock(f"{self.host}: lacks the block ({message})")
        return RpcRefused(self.host, message, number=number, data=error.get("data"))
