"""The suite for adapters itself: it notices each way in which an adapter can be wrong."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace
from typing import Any

import pytest

from adapters.base import BadPayload, VenueUnavailable
from adapters.http.json_fields import Field
from adapters.testing import NotConforming, ReplayClient, check_adapter
from routing_engine.formats import Contents
from routing_engine.markets import ConstantProductPool
from routing_engine.model import Token
from tests.support.strategies import TOKEN0, TOKEN1

URL = "https://venue.test/pools"
ANSWERS = {URL: [{"id": "1:a", "reserves": ["1000000", "2000000"]}]}


class Good:
    """Reads pools of two tokens."""

    name = "good"

    def __init__(self, client: ReplayClient) -> None:
        self.client = client

    def fetch(self) -> Any:
        return self.client.get(URL)

    def parse(self, payload: Any) -> Contents:
        return Contents(markets=tuple(self.pool(row) for row in Field(payload, "good").read_items(10)))

    def pool(self, row: Field) -> ConstantProductPool:
        reserves = tuple(row.get("reserves").read_items(2))
        if len(reserves) != 2:
            raise row.get("reserves").make_error("must be two numbers")
        pool_id = row.get("id").read_text()
        if not pool_id:
            raise row.get("id").make_error("must not be empty")
        return ConstantProductPool(
            id=pool_id,
            protocol="good",
            token0=TOKEN0,
            token1=TOKEN1,
            reserve0=reserves[0].read_integer(1, 2**112 - 1),
            reserve1=reserves[1].read_integer(1, 2**112 - 1),
            fee_pips=3000,
        )


class AsksNothing(Good):
    def fetch(self) -> Any:
        return ANSWERS[URL]


class AsksWhileParsing(Good):
    def parse(self, payload: Any) -> Contents:
        return super().parse(self.client.get(URL))


class ChangesItsPayload(Good):
    def parse(self, payload: Any) -> Contents:
        contents = super().parse(payload)
        payload.append(payload[0])
        return replace(contents, markets=contents.markets[:1])


class GivesSomethingElse(Good):
    counter = itertools.count(1_000_000)

    def pool(self, row: Field) -> ConstantProductPool:
        return replace(super().pool(row), reserve0=next(self.counter))


class GivesNothing(Good):
    def parse(self, payload: Any) -> Contents:
        super().parse(payload)
        return Contents(markets=())


class GivesTheSameTwice(Good):
    def parse(self, payload: Any) -> Contents:
        return Contents(markets=super().parse(payload).markets * 2)


class CountsInTwoWays(Good):
    def parse(self, payload: Any) -> Contents:
        (pool,) = super().parse(payload).markets
        return Contents(markets=(pool, replace(pool, id="b", token1=replace(TOKEN1, decimals=7))))


class Leaky(ConstantProductPool):
    """Forgets what was sold."""

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> Any:
        return ConstantProductPool.swap_exact_in(self, token_in, token_out, amount_in)[0], self


class Cheats(Good):
    def pool(self, row: Field) -> ConstantProductPool:
        pool = super().pool(row)
        return Leaky(**{field.name: getattr(pool, field.name) for field in fields(pool)})


class TrustsTypes(Good):
    def parse(self, payload: Any) -> Contents:
        for row in payload:
            row["id"].lower()
        return super().parse(payload)


class HidesThatItIsAway(Good):
    def fetch(self) -> Any:
        try:
            return super().fetch()
        except VenueUnavailable:
            return ANSWERS[URL]


class SaysNothing(Good):
    def parse(self, payload: Any) -> Contents:
        try:
            return super().parse(payload)
        except BadPayload:
            raise BadPayload("") from None


def test_a_good_adapter_passes() -> None:
    assert len(check_adapter(Good, ANSWERS).markets) == 1


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (AsksNothing, "fetch asks nothing"),
        (AsksWhileParsing, "parse asks the client"),
        (ChangesItsPayload, "parse changes its payload"),
        (GivesSomethingElse, "gives something else the second time"),
        (GivesNothing, "gives neither market nor gas price"),
        (GivesTheSameTwice, "two markets with the id 1:a"),
        (CountsInTwoWays, "has two numbers of decimals"),
        (Cheats, "at once"),
        (TrustsTypes, "raises TypeError where"),
        (HidesThatItIsAway, "does not raise VenueUnavailable"),
        (SaysNothing, "without a reason"),
    ],
)
def test_each_mistake_is_noticed(adapter: type[Good], said: str) -> None:
    with pytest.raises(NotConforming, match=said):
        check_adapter(adapter, ANSWERS)


def test_what_is_not_recorded_is_unavailable_and_errors_can_be_recorded() -> None:
    client = ReplayClient({URL: BadPayload("damaged"), 'POST https://venue.test {"a":1}': {"b": 2}})
    with pytest.raises(BadPayload, match="damaged"):
        client.get(URL)
    assert client.post("https://venue.test", {"a": 1}) == {"b": 2}
    with pytest.raises(VenueUnavailable, match=r"nothing is recorded for .*pools\?x=1"):
        client.get(URL, {"x": 1})
    assert client.asked == [URL, 'POST https://venue.test {"a":1}', f"{URL}?x=1"]
