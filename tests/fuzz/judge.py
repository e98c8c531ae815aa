"""Looks at every answer: its status, its form, whose data it has, and how long it took."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from api.services.webhooks.sample_details import TRANSFER
from api.services.webhooks.samples import SAMPLE_ORDER
from api.web.security import API_PREFIXES
from tests.fuzz.pool import ID, PRIVATE, Caller, Owner, Pool
from tests.fuzz.wire import Answer, Request
from tests.support.contract import Contract

MOST_KEPT = 60
"""Findings: more of the same help nobody."""
MOST_SHOWN = 400
SECRET = re.compile(r"sk_(?:test|live)_[A-Za-z0-9_-]{43}")
NOT_ON_PAGES = ("po", "ep", "dlv", "evt")
SAMPLES = {SAMPLE_ORDER, TRANSFER}
"""Ids in test events, which everybody gets alike."""
UNPARSED = "Invalid HTTP request received."
"""What uvicorn says of bytes that are no HTTP, before the service sees them."""


@dataclass(frozen=True, kw_only=True)
class Timed:
    """How long an answer took by the caller's clock."""

    seconds: float
    what: str


@dataclass
class Judge:
    """What was seen so far.

    Parameters
    ----------
    contract : Contract
        The document that answers are held to.
    strangers : mapping
        For each owner, texts that only the other vendor may read.
    """

    contract: Contract
    pool: Pool
    strangers: Mapping[Owner, tuple[str, ...]]
    statuses: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    parts: Counter[str] = field(default_factory=Counter)
    findings: dict[str, str] = field(default_factory=dict)
    times: list[Timed] = field(default_factory=list)
    readers: defaultdict[str, set[Owner]] = field(default_factory=lambda: defaultdict(set))

    @property
    def cases(self) -> int:
        """How many answers were looked at."""
        return self.parts.total()

    def check(self, part: str, caller: Caller, answer: Answer) -> None:
        """Look at an answer, and note what is wrong with it."""
        sent, operation = answer.sent, self._name(answer.sent)
        self.parts[part] += 1
        self.statuses[operation][answer.status] += 1
        self.times.append(Timed(seconds=answer.seconds, what=f"{operation} {answer.status}"))
        if answer.status >= 500:
            self.note(f"{operation}: {answer.status}", answer)
        if answer.text == UNPARSED:
            return
        self._check_form(operation, answer)
        if any(key[0] not in sent.text for key in SECRET.finditer(answer.text)):
            self.note(f"{operation}: shows an API key", answer)
        self._check_owner(operation, caller, answer)

    def note(self, what: str, answer: Answer | Request) -> None:
        """Keep a finding, the first of its kind."""
        if what in self.findings or len(self.findings) >= MOST_KEPT:
            return
        sent = answer.sent if isinstance(answer, Answer) else answer
        said = f"\n    -> {answer.status} {answer.text[:MOST_SHOWN]!r}" if isinstance(answer, Answer) else ""
        self.findings[what] = f"{what}\n    {sent}{said}"
        print(self.findings[what], flush=True)

    def _check_form(self, operation: str, answer: Answer) -> None:
        """Hold the answer to the document, or at other addresses of the API to the error body."""
        sent = answer.sent
        try:
            if sent.template:
                self.contract.check(sent.template, sent.method, answer.response)
            elif answer.status >= 400 and sent.target.startswith(API_PREFIXES) and sent.method != "HEAD":
                body = answer.response.get_json()
                assert body["code"] == str(answer.status)
                assert set(body) == {"message", "code", "error"}
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            self.note(f"{operation}: {type(error).__name__} {str(error)[:160]}", answer)
        except Exception as error:
            self.note(f"{operation}: {type(error).__name__}", answer)

    def _check_owner(self, operation: str, caller: Caller, answer: Answer) -> None:
        """No answer has what is another's; what the request named itself may come back in a refusal."""
        text = answer.text
        asked = {match[0] for match in ID.finditer(answer.sent.text)}
        if answer.sent.target.startswith("/payment/"):
            if strange := {match[0] for match in ID.finditer(text) if match[1] in NOT_ON_PAGES} - asked:
                self.note(f"{operation}: a page names {strange}", answer)
            return
        if not answer.sent.target.startswith(API_PREFIXES):
            return
        if answer.status < 300:
            seen = self.pool.gather(caller.owner, text)
            if answer.sent.method == "DELETE":
                self.pool.forget(answer.sent.target)
        else:  # a refusal may repeat what it was asked for
            seen = {match[0] for match in ID.finditer(text) if match[1] in PRIVATE} - asked
        if caller.owner is None:
            if seen:
                self.note(f"{operation}: without a key, {seen}", answer)
            return
        for known in seen:
            self.readers[known].add(caller.owner)
        if any(strange in text for strange in self.strangers[caller.owner]):
            self.note(f"{operation}: shows the other vendor", answer)

    def list_leaks(self, owners: Mapping[str, Owner]) -> list[str]:
        """Return the ids that somebody read who does not own them; `owners` has those that the database knows."""
        return [
            f"{known} of {owners.get(known, 'unknown')} was read by {sorted(readers)}"
            for known, readers in self.readers.items()
            if known not in SAMPLES and (len(readers) > 1 or (known in owners and owners[known] not in readers))
        ]

    def _name(self, sent: Request) -> str:
        described: dict[str, Any] = self.contract.document["paths"].get(sent.template, {}).get(sent.method.lower(), {})
        return str(
            described.get("operationId") or f"{sent.method} {ID.sub('{id}', sent.target.partition('?')[0])[:40]}"
        )
