"""What the merchants' guide says of simulated payments is what happens."""

from __future__ import annotations

from api.domain.simulation import Action
from tests.support.guide.tables import SCENARIOS
from tests.support.shop import Shop


def test_every_action_leads_where_the_guide_says(shop: Shop) -> None:
    assert SCENARIOS.keys() == set(Action)
    orders = {action: shop.create() for action in Action if action != Action.REORG}
    for action, order_id in orders.items():
        shop.simulate(order_id, action)
    shop.wait(10)
    shop.wait(50)
    orders[Action.REORG] = shop.create()  # a reorganisation takes back what other orders were paid in its block
    shop.simulate(orders[Action.REORG], Action.REORG)
    shop.wait(10)
    for action, (_, path) in SCENARIOS.items():
        went = tuple(each.replace("/", " ").strip() for each in shop.history(orders[action]))
        assert went == path, action
