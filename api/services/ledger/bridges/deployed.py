"""The bridges that are deployed on a chain, each in a module of its own in `api.services.ledger`."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.chain.deployments import deployments_of
from api.services.ledger.bridges.events import Bridge
from routing_engine.reference import token_registry
from routing_engine.reference.chains import bridge_facts


def bridges_on(chain_id: int) -> tuple[Bridge, ...]:
    """Return the bridges that are deployed on a chain."""
    return tuple(_deployed(chain_id))


def _deployed(chain_id: int) -> Iterator[Bridge]:
    from api.services.ledger.bridges.across import Across
    from api.services.ledger.bridges.cctp import Cctp
    from api.services.ledger.bridges.stargate import Stargate

    for facts in deployments_of("across", chain_id):
        yield Across(chain_id, facts.address("spoke_pool"))
    for facts in deployments_of("cctp", chain_id):
        coin = token_registry.token("USDC", chain_id).address
        yield Cctp(chain_id, facts.address("token_messenger"), facts.address("message_transmitter"), coin)
    pools = deployments_of("stargate", chain_id) if chain_id in bridge_facts("layerzero") else ()
    symbols = {facts.address("pool"): facts.text("symbol") for facts in pools}
    if symbols:
        yield Stargate(chain_id, symbols)
