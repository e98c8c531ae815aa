"""What a wallet is told of a network that it does not know (EIP-3085)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from api.domain.env import EnvMode
from api.services.orders.views import PublicOrder
from routing_engine.reference.chains import CHAINS


def describe_network(chain_id: int, order: PublicOrder) -> dict[str, Any] | None:
    """Return the parameters of ``wallet_addEthereumChain``, or None where nothing should be added.

    The endpoints are public ones, never the operator's. For test orders there are none: their chains may be rehearsals
    under the number of a main net, and a wallet that was sent to the main net would pay with real money there.
    """
    chain = CHAINS.get(chain_id)
    if chain is None or not chain.public_rpc_urls or order.env_mode != EnvMode.LIVE:
        return None
    coin, explorer = chain.native_currency, urlsplit(chain.explorer_tx_url)
    return {
        "chainId": hex(chain_id),
        "chainName": chain.name,
        "nativeCurrency": {"name": coin.name, "symbol": coin.symbol, "decimals": coin.decimals},
        "rpcUrls": list(chain.public_rpc_urls),
        "blockExplorerUrls": [f"{explorer.scheme}://{explorer.netloc}"],
    }
