"""Recorded answers in place of a service."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any
from urllib.parse import urlencode

from adapters.base import VenueUnavailable


class ReplayClient:
    """Answers questions from a recording, like `adapters.http.client.JsonClient` from the network.

    Parameters
    ----------
    answers : mapping of str to object
        Documents, or exceptions to raise, by question: the URL with its query for a GET, ``POST``, the URL and the body
        as compact JSON for a POST.
    """

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    def get(self, url: str, params: Mapping[str, str | int] | None = None) -> Any:
        """Return the recorded answer; see `post`."""
        return self._answer(f"{url}?{urlencode(params)}" if params else url)

    def post(self, url: str, body: object) -> Any:
        """Return the recorded answer.

        Raises
        ------
        VenueUnavailable
            If nothing was recorded for this question.
        """
        return self._answer(f"POST {url} {json.dumps(body, separators=(',', ':'))}")

    def _answer(self, question: str) -> Any:
        self.asked.append(question)
        if question not in self._answers:
            raise VenueUnavailable(f"nothing is recorded for {question}")
        answer = self._answers[question]
        if isinstance(answer, Exception):
            raise answer
        return deepcopy(answer)
