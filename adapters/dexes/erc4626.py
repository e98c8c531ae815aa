"""ERC-4626 vaults among the listed tokens: whatever answers as one, and charges nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adapters.chain.protocol import ChainProtocol, Pool, Refused, States, build_states, make_market_id
from adapters.chain.tokens import ChainTokens
from adapters.rpc.abi import Call, CallFailed, Function, Log
from adapters.rpc.reading import Reading, ask_each
from routing_engine.markets import Vault
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS

ASSET = Function("asset()", "address")
TO_SHARES, TO_ASSETS, PREVIEW_DEPOSIT, PREVIEW_REDEEM = (
    Function(f"{name}(uint256)", "uint256")
    for name in ("convertToShares", "convertToAssets", "previewDeposit", "previewRedeem")
)
MAX_DEPOSIT = Function("maxDeposit(address)", "uint256")
BALANCE_OF = Function("balanceOf(address)", "uint256")
COOLDOWN = Function("cooldownDuration()", "uint24")
"""Of vaults that pay out later than they are asked to, such as sUSDe."""

SOMEBODY = "0x" + "0" * 39 + "1"


class Erc4626(ChainProtocol[Vault]):
    """All vaults of a chain whose share and asset are listed.

    What may be redeemed at once is what a vault holds itself; one whose assets work elsewhere takes deposits only.

    Parameters
    ----------
    chain_id : int
        Where they are.
    """

    name = "erc4626"

    def __init__(self, chain_id: int) -> None:
        self._chain_id = chain_id

    def list_emitters(self, pool: Pool) -> tuple[str, ...]:
        """Return nobody: prices move without events, so everything is read every time."""
        return ()

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Ask every listed token whether it is a vault."""
        asked = yield from ask_each(tokens.list_contracts(), lambda token: (ASSET(token.address),))
        found = []
        for share, ((call, outcome),) in asked.items():
            try:
                asset = tokens.find(call.decode_one(outcome))
            except CallFailed:
                continue
            if asset is not None and asset != share and not asset.is_native:
                found.append(Pool(key=share.address, tokens=(asset, share)))
        return tuple(found)

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[Vault]]:
        """Read prices, fees and limits."""
        asked = yield from ask_each(pools, _make_calls)

        def build_state(pool: Pool) -> Vault | Refused:
            *needed, (cooldown, waits) = asked[pool]
            shares, assets, deposited, redeemed, most, held = (call.decode_one(outcome) for call, outcome in needed)
            if (deposited, redeemed) != (shares, assets):
                return Refused("charges_fees")
            is_open = waits.reverted or not waits.data or cooldown.decode_one(waits) == 0
            return self._make_vault(pool.tokens, shares, assets, most, held if is_open else 0)

        return build_states(pools, build_state)

    def apply(self, pool: Pool, state: Vault, log: Log) -> Vault:
        """Return the same: no event is followed."""
        return state

    def refresh(self, held: Mapping[str, tuple[Pool, Vault]]) -> Reading[States[Vault]]:
        """Read everything again."""
        return self.read(tuple(pool for pool, _ in held.values()))

    def _make_vault(self, tokens: tuple[Token, ...], shares: int, assets: int, max_deposit: int, held: int) -> Vault:
        asset, share = tokens
        return Vault(
            id=make_market_id(self._chain_id, share.address),
            protocol=self.name,
            asset=asset,
            share=share,
            asset_price=shares,
            share_price=assets,
            max_deposit=max_deposit,
            max_redeem=held * 10**share.decimals // assets if assets else 0,
        )


def _make_calls(pool: Pool) -> tuple[Call, ...]:
    (asset, share), to = pool.tokens, pool.key
    one_asset, one_share = 10**asset.decimals, 10**share.decimals
    return (
        TO_SHARES(to, one_asset),
        TO_ASSETS(to, one_share),
        PREVIEW_DEPOSIT(to, one_asset),
        PREVIEW_REDEEM(to, one_share),
        MAX_DEPOSIT(to, SOMEBODY),
        BALANCE_OF(asset.address, to),
        COOLDOWN(to),
    )


def find_deployments(chain_id: int) -> Iterator[Erc4626]:
    """Return the vaults of a chain that the engine describes."""
    if chain_id in CHAINS:
        yield Erc4626(chain_id)
