"""What more than half of a chain's endpoints say, each asked by itself: one that lies decides nothing alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from threading import Lock

from adapters.base import AdapterError, VenueUnavailable
from adapters.rpc.endpoint import Parsed
from adapters.rpc.single_endpoint import Asker, SingleEndpoint


class Majority:
    """The endpoints of a chain, asked one after the other until more than half of all agree.

    So of two both are asked, of three two suffice, and a single one is believed.

    Parameters
    ----------
    endpoints : sequence of SingleEndpoint
        All that are configured, also those that are away.
    """

    def __init__(self, endpoints: Sequence[SingleEndpoint]) -> None:
        self._endpoints = endpoints
        self._turn = Lock()

    def ask(self, question: Callable[[Asker], Parsed]) -> Parsed:
        """Return what more than half of the endpoints answer.

        Raises
        ------
        VenueUnavailable
            If no answer has so many: endpoints are away, or contradict each other.
        """
        answers: Counter[Parsed] = Counter()
        faults = []
        with self._turn:  # an endpoint by itself takes one question at a time
            for each in self._endpoints:
                try:
                    answer = question(each)
                except AdapterError as fault:
                    faults.append(f"{each.host}: {fault}")
                    continue
                answers[answer] += 1
                if answers[answer] * 2 > len(self._endpoints):
                    return answer
        told = "; ".join(faults) or "they contradict each other"
        raise VenueUnavailable(f"no more than half of the {len(self._endpoints)} endpoints agree: {told}")
