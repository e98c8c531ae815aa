"""Requests that schemathesis draws from the OpenAPI document: valid ones, invalid ones, and sequences by its links.

Schemathesis is loaded by the run: it takes longer than most tests, and nothing else needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, Unsatisfiable

from api.openapi.document import list_operations
from tests.fuzz.known import MOST_IMPROVED, Sense
from tests.fuzz.links import add_links
from tests.fuzz.pool import Caller
from tests.fuzz.wire import Answer, Request, write_request

if TYPE_CHECKING:
    import schemathesis

KEY_HEADER = "X-Api-Key"
STEPS = 8
"""Requests in a sequence, at most."""
SEQUENCES = 100
"""Before other dice are thrown."""
SEARCHES = {"getRoutes", "streamRoutes", "streamRoutesForBody", "getQuote", "replayQuote", "archiveQuote"}
COSTLY = 0.4
"""Share of an operation that searches routes, which takes a hundred times as long as a read."""
AS_DRAWN = 0.05
"""How often the API key is the one that was drawn."""
DICE = st.integers(0, 2**32 - 1)

Throw = Callable[[str, Caller, Request], Answer | None]
"""Sends a request of a part of the run, and has its answer looked at."""


def choose_settings(examples: int) -> settings:
    """Return how Hypothesis draws: only forward, since findings are gathered and nothing fails meanwhile."""
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        stateful_step_count=STEPS,
    )


@dataclass(frozen=True, kw_only=True)
class Drawer:
    """Draws requests from a document and throws them.

    Parameters
    ----------
    make_sense : callable
        Returns a `Sense` for the dice of one request.
    number : int
        Which dice are thrown.
    """

    document: dict[str, Any]
    address: str
    make_sense: Callable[[Random], Sense]
    throw: Throw
    number: int

    def draw_each(self, mode: str, cases: int) -> None:
        """Throw about so many requests: as many at each operation, but fewer where the service has to search."""
        import schemathesis

        described = schemathesis.openapi.from_dict(self.document)
        shares = [
            (path, method, COSTLY if each["operationId"] in SEARCHES else 1)
            for path, method, each in list_operations(self.document)
        ]
        whole = sum(share for _, _, share in shares)
        for path, method, share in shares:
            drawn = described[path][method.upper()].as_strategy(generation_mode=schemathesis.GenerationMode(mode))

            @seed(self.number)
            @choose_settings(max(1, int(cases * share / whole)))
            @given(case=drawn, dice=DICE)
            def throw(case: schemathesis.Case, dice: int) -> None:
                self._throw(mode, case, Random(dice))

            with suppress(Unsatisfiable):  # nothing is invalid in a path that takes any text
                throw()

    def draw_sequences(self, cases: int) -> None:
        """Throw sequences of requests in which each is about what the ones before it made.

        What can be drawn next depends on answers, and those on the worker: Hypothesis calls that flaky when it goes
        the same way twice and finds another. It begins anew then, with other dice.
        """
        import schemathesis

        linked = add_links(deepcopy(self.document))
        machine: Any = schemathesis.openapi.from_dict(linked).as_state_machine()
        drawer, dice, thrown = self, Random(self.number), Counter[str]()

        class Sequence(machine):  # type: ignore[misc]
            def setup(self) -> None:
                self.sense = drawer.make_sense(dice)

            def call(self, case: schemathesis.Case, **_: Any) -> Any:
                thrown["links"] += 1
                return drawer._step(case, self.sense)

            def validate_response(self, *_: Any, **__: Any) -> None:
                """The answer was looked at when it came."""

        for number in count(self.number):
            if thrown.total() >= cases:
                return
            with suppress(Flaky):
                seed(number)(Sequence).run(
                    settings=choose_settings(min(SEQUENCES, 1 + (cases - thrown.total()) // STEPS))
                )

    def _throw(self, mode: str, case: schemathesis.Case, dice: Random) -> None:
        sense = self.make_sense(dice)
        chance = dice.choice((MOST_IMPROVED, MOST_IMPROVED, 0.6, 0.0))
        case.path_parameters = sense.place(case.path_parameters or {})
        if mode == "positive":
            case.query = sense.improve(dict(case.query or {}), chance)
            case.body = sense.improve(case.body, max(chance, 0.01))
            sense.pair(case.path_parameters, case.body)
        else:
            case.body = self._keep_at_home(case.body, sense)
        self._prepare(case, sense)
        self.throw(mode, sense.caller, write_request(case.as_transport_kwargs(base_url=self.address), case.path))

    def _step(self, case: schemathesis.Case, sense: Sense) -> Any:
        from schemathesis.core.transport import Response

        case.query = sense.improve(dict(case.query or {}), MOST_IMPROVED)
        case.body = sense.improve(case.body, MOST_IMPROVED)
        self._prepare(case, sense)
        arguments = case.as_transport_kwargs(base_url=self.address)
        sent = write_request(arguments, case.path)
        answer = self.throw("links", sense.caller, sent)
        import requests

        request = requests.Request(sent.method, self.address + sent.target).prepare()
        if answer is None:
            return Response(status_code=599, headers={}, content=b"", request=request, elapsed=0.0, verify=False)
        headers = {name: [value] for name, value in answer.response.headers.items()}
        content = answer.response.get_data()
        return Response(answer.status, headers, content, request=request, elapsed=answer.seconds, verify=False)

    @staticmethod
    def _keep_at_home(body: Any, sense: Sense) -> Any:
        """Let no webhook lead away from this machine."""
        if isinstance(body, dict) and isinstance(body.get("webhook_url"), str) and ":" in body["webhook_url"]:
            return {**body, "webhook_url": sense.choose_webhook_url()}
        return body

    @staticmethod
    def _prepare(case: schemathesis.Case, sense: Sense) -> None:
        """Ask in the name of the caller, sometimes with an idempotency key."""
        headers = dict(case.headers or {})
        if sense.dice.random() >= AS_DRAWN:
            headers.pop(KEY_HEADER, None)
            if sense.caller.key is not None:
                headers[KEY_HEADER] = sense.caller.key.encode("latin-1", "replace").decode("latin-1")
        if case.method == "POST" and sense.dice.random() < 0.15:
            headers["Idempotency-Key"] = f"key-{sense.dice.randrange(40)}"
        case.headers = headers  # type: ignore[assignment]
