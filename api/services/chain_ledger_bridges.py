"""What bridges' own events say: which deposit a transfer is, and which deposit a delivery answers.

A bridge names a deposit alike on both chains, so the two are put together by that name, whichever is read first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from eth_utils.crypto import keccak

from adapters.base import BadPayload
from adapters.chain.abi import WORD, Log
from adapters.chain.deployments import deployments_of
from routing_engine import registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposit:
    """Tokens that a bridge took in; it delivers to `recipient` before `fill_deadline`, where there is one."""

    bridge_id: str
    contract: str
    token_address: str
    sender: str
    recipient: str
    amount: int
    fill_deadline: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Tokens that a bridge, or a relayer in its name, paid out; wrapped coins may have been unwrapped on the way."""

    bridge_id: str
    token_address: str
    recipient: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenBack:
    """What the contract transfers in this transaction is its users' deposits, given back."""

    contract: str


BridgeEvent = Deposit | Delivery | GivenBack


class Bridge(Protocol):
    """The events of one bridge on one chain."""

    @property
    def contracts(self) -> frozenset[str]:
        """Who emits them, in lower case."""
        ...

    @property
    def topics(self) -> frozenset[str]:
        """First topics of its events."""
        ...

    def read(self, log: Log) -> BridgeEvent:
        """Return what one of its events says.

        Raises
        ------
        BadPayload
            If the log is not as long as the event.
        """
        ...


def _topic(signature: str) -> str:
    return "0x" + keccak(text=signature).hex()


class Across:
    """Across: events of ``SpokePool.sol`` (npm @across-protocol/contracts 5.0.27)."""

    DEPOSIT = _topic(
        "FundsDeposited(bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,uint32,bytes32,bytes32,bytes32,bytes)"
    )
    FILL = _topic(
        "FilledRelay(bytes32,bytes32,uint256,uint256,uint256,uint256,uint256,uint32,uint32,bytes32,bytes32,bytes32,"
        "bytes32,bytes32,(bytes32,bytes32,uint256,uint8))"
    )
    REFUND = _topic("ExecutedRelayerRefundRoot(uint256,uint256,uint256[],uint32,uint32,address,address[],bool,address)")
    topics = frozenset({DEPOSIT, FILL, REFUND})

    def __init__(self, chain_id: int, spoke_pool: str) -> None:
        self._chain_id = chain_id
        self.contracts = frozenset({spoke_pool})

    def read(self, log: Log) -> BridgeEvent:
        """Return a deposit, a fill, or that deposits are given back."""
        if log.topics[0] == self.REFUND:
            return GivenBack(contract=log.address)
        if log.topics[0] == self.DEPOSIT:
            return Deposit(
                bridge_id=f"across:{self._chain_id}:{_topic_number(log, 2)}",
                contract=log.address,
                token_address=_address(_word(log, 0)),
                sender=_address(_topic_bytes(log, 3)),
                recipient=_address(_word(log, 7)),
                amount=_number(log, 2),
                fill_deadline=datetime.fromtimestamp(_number(log, 5) % 2**32, UTC),
            )
        return Delivery(
            bridge_id=f"across:{_topic_number(log, 1)}:{_topic_number(log, 2)}",
            token_address=_address(_word(log, 1)),
            recipient=_address(_word(log, 11)),
            amount=_number(log, 13),
        )


class Cctp:
    """CCTP v2: events of ``TokenMessengerV2`` and ``MessageTransmitterV2`` (circlefin/evm-cctp-contracts).

    Circle gives a message its number off the chain, so the burn's event does not have it. What both chains have is the
    message's body; of two burns with the same body either may be answered first. Ours have the order in the hook.
    """

    BURN = _topic("DepositForBurn(address,uint256,address,bytes32,uint32,bytes32,bytes32,uint256,uint32,bytes)")
    BURNT = ("uint256", "bytes32", "uint32", "bytes32", "bytes32", "uint256", "bytes")
    RECEIVED = _topic("MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)")
    topics = frozenset({BURN, RECEIVED})
    BODY_BYTES = 228
    """Of the burn message v2, without its hook's data: a version of 4 bytes, then seven words."""

    def __init__(self, chain_id: int, messenger: str, transmitter: str, coin: str) -> None:
        from adapters.cctp import DOMAINS  # here, since it loads the compiler

        self._domain, self._coin = DOMAINS[chain_id], coin
        self.contracts = frozenset({messenger, transmitter})

    def read(self, log: Log) -> BridgeEvent:
        """Return a burn, or the mint that a received message caused."""
        if log.topics[0] == self.BURN:
            amount, recipient, _, _, _, fee, hook = _values(log, *self.BURNT)
            token, sender = _topic_bytes(log, 1), _topic_bytes(log, 2)
            return Deposit(
                bridge_id=_burn_id(self._domain, token, recipient, amount, sender, fee, hook),
                contract=log.address,
                token_address=_address(token),
                sender=_address(sender),
                recipient=_address(recipient),
                amount=amount,
            )
        domain, _, body = _values(log, "uint32", "bytes32", "bytes")
        if len(body) < self.BODY_BYTES:
            raise BadPayload(f"{log.address}: a message of {len(body)} bytes is no burn")
        token, recipient, amount, sender, fee, taken, _ = (body[4 + WORD * place :][:WORD] for place in range(7))
        hook, burned = body[self.BODY_BYTES :], int.from_bytes(amount)
        return Delivery(
            bridge_id=_burn_id(domain, token, recipient, burned, sender, int.from_bytes(fee), hook),
            token_address=self._coin,
            recipient=_address(recipient),
            amount=burned - min(burned, int.from_bytes(taken)),
        )


class Stargate:
    """Stargate v2: events of its pools (npm @stargatefinance/stg-evm-v2 2.0.6), by LayerZero's guid of the message."""

    SENT = _topic("OFTSent(bytes32,uint32,address,uint256,uint256)")
    RECEIVED = _topic("OFTReceived(bytes32,uint32,address,uint256)")
    topics = frozenset({SENT, RECEIVED})

    def __init__(self, tokens: dict[str, str]) -> None:
        self._tokens = tokens
        self.contracts = frozenset(tokens)

    def read(self, log: Log) -> BridgeEvent:
        """Return what a pool took in or paid out."""
        bridge_id = f"stargate:0x{_topic_bytes(log, 1).hex()}"
        person, token = _address(_topic_bytes(log, 2)), self._tokens[log.address]
        if log.topics[0] == self.SENT:
            # The event does not name the recipient; only the reference tells whose deposit it is.
            return Deposit(
                bridge_id=bridge_id,
                contract=log.address,
                token_address=token,
                sender=person,
                recipient="",
                amount=_number(log, 1),
            )
        return Delivery(bridge_id=bridge_id, token_address=token, recipient=person, amount=_number(log, 1))


def bridges_on(chain_id: int) -> tuple[Bridge, ...]:
    """Return the bridges that are deployed on a chain."""
    return tuple(_deployed(chain_id))


def _deployed(chain_id: int) -> Iterator[Bridge]:
    from adapters.stargate import EIDS  # here, since it loads the compiler

    for facts in deployments_of("across", chain_id):
        yield Across(chain_id, facts.address("spoke_pool"))
    for facts in deployments_of("cctp", chain_id):
        coin = registry.token("USDC", chain_id).address
        yield Cctp(chain_id, facts.address("token_messenger"), facts.address("message_transmitter"), coin)
    pools = deployments_of("stargate", chain_id) if chain_id in EIDS else ()
    tokens = {facts.address("pool"): registry.token(facts.text("symbol"), chain_id).address for facts in pools}
    if tokens:
        yield Stargate(tokens)


def _burn_id(domain: int, token: bytes, recipient: bytes, amount: int, sender: bytes, fee: int, hook: bytes) -> str:
    body = b"".join((token, recipient, amount.to_bytes(WORD), sender, fee.to_bytes(WORD), hook))
    return f"cctp:{domain}:0x{keccak(body).hex()}"


def _values(log: Log, *types: str) -> tuple[Any, ...]:
    try:
        return tuple(decode(types, log.data))
    except (DecodingError, OverflowError) as error:
        raise BadPayload(f"{log.address}: an event does not fit {', '.join(types)}") from error


def _word(log: Log, place: int) -> bytes:
    word = log.data[WORD * place : WORD * (place + 1)]
    if len(word) < WORD:
        raise BadPayload(f"{log.address}: an event has {len(log.data)} bytes of data, too few")
    return word


def _number(log: Log, place: int) -> int:
    return int.from_bytes(_word(log, place))


def _topic_bytes(log: Log, place: int) -> bytes:
    if len(log.topics) <= place:
        raise BadPayload(f"{log.address}: an event has {len(log.topics)} topics, too few")
    return bytes.fromhex(log.topics[place][2:])


def _topic_number(log: Log, place: int) -> int:
    return int.from_bytes(_topic_bytes(log, place))


def _address(word: bytes) -> str:
    return "0x" + word[-20:].hex()  # one of another kind of chain becomes an address that is nobody's here
