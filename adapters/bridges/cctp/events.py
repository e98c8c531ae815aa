"""Circle's CCTP v2: what its contracts' events say of burns and of the mints that answer them."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.bridges.cctp.adapter import get_domain
from adapters.bridges.events import (
    BridgeEvent,
    Delivery,
    Deposit,
    hash_fields,
    hash_signature,
    read_topic,
    read_values,
)
from adapters.bridges.promise import Promise
from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import WORD, Log
from adapters.transactions.decoded import read_address
from routing_engine.reference import token_registry
from routing_engine.reference.chains import bridge_facts

BURNT = ("uint256", "bytes32", "uint32", "bytes32", "bytes32", "uint256", "bytes")
"""Amount, recipient, domain, messenger there, who may mint, largest fee, hook."""
BODY_BYTES = 228
"""Of the burn message v2, without its hook's data: a version of 4 bytes, then seven words."""


class CctpEvents:
    """Events of ``TokenMessengerV2`` and ``MessageTransmitterV2`` (circlefin/evm-cctp-contracts).

    Circle gives a message its number off the chain, so the burn's event does not have it. What both chains have is the
    message's body and the ends; of two burns with the same body either may be answered first. Ours have the order in
    the hook. Anybody may send a message whose body looks like a burn, so its sender must be the messenger.
    ``MessageReceived`` comes after the mint.
    """

    BURN = hash_signature("DepositForBurn(address,uint256,address,bytes32,uint32,bytes32,bytes32,uint256,uint32,bytes)")
    RECEIVED = hash_signature("MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)")
    topics = frozenset({BURN, RECEIVED})

    def __init__(self, chain_id: int, messenger: str, transmitter: str, coin: str) -> None:
        self._domain, self._coin = get_domain(chain_id), coin
        self.contracts = frozenset({messenger, transmitter})

    def read(self, log: Log) -> BridgeEvent | None:
        """Return a burn, or the mint that a received message caused; None for others and other tokens."""
        if log.topics[0] == self.BURN:
            return self._read_burn(log)
        domain, sender, body = read_values(log, "uint32", "bytes32", "bytes")
        if len(body) < BODY_BYTES or sender != _list_messengers().get(domain):
            return None
        token, recipient, amount, person, fee, taken, _ = (body[4 + WORD * place :][:WORD] for place in range(7))
        if token != _list_coins().get(domain):
            return None
        return Delivery(
            bridge_id=_name_burn(domain, self._domain, token, recipient, amount, person, fee, body[BODY_BYTES:]),
            contract=log.address,
            token_address=self._coin,
            recipient=read_address(recipient),
            amount=int.from_bytes(amount) - min(int.from_bytes(amount), int.from_bytes(taken)),
            is_announced=False,
        )

    def complete(self, deposit: Deposit, calldata: bytes) -> Deposit:
        """Return it as it is: the event says everything."""
        return deposit

    def _read_burn(self, log: Log) -> Deposit:
        amount, recipient, domain, _, caller, fee, hook = read_values(log, *BURNT)
        token, person = read_topic(log, 1), read_topic(log, 2)
        fields = (token, recipient, amount.to_bytes(WORD), person, fee.to_bytes(WORD), hook)
        return Deposit(
            bridge_id=_name_burn(self._domain, domain, *fields),
            contract=log.address,
            token_address=read_address(token),
            recipient=read_address(recipient),
            amount=amount,
            payer=read_address(person),
            promise=_make_promise(domain, read_address(recipient), amount - min(fee, amount), caller),
            delivery_topics=(self.RECEIVED,),
        )


def find_readers(chain_id: int) -> Iterator[CctpEvents]:
    """Yield the events of a chain's messenger and transmitter."""
    for facts in read_deployments("cctp", chain_id):
        coin = token_registry.token("USDC", chain_id).address
        yield CctpEvents(chain_id, facts.get_address("token_messenger"), facts.get_address("message_transmitter"), coin)


def _name_burn(
    origin: int, destination: int, token: bytes, recipient: bytes, amount: bytes, person: bytes, fee: bytes, hook: bytes
) -> str:
    # The hook comes last: everything before it has a fixed length.
    return f"cctp:{origin}:{destination}:{hash_fields(token, recipient, amount, person, fee, hook)}"


def _make_promise(domain: int, recipient: str, amount: int, caller: bytes) -> Promise | None:
    for chain_id in bridge_facts("cctp"):
        if get_domain(chain_id) == domain:
            coin = token_registry.token("USDC", chain_id).address
            only = read_address(caller) if any(caller) else ""
            return Promise(chain_id=chain_id, token_address=coin, recipient=recipient, amount=amount, only=only)
    return None


def _list_coins() -> dict[int, bytes]:
    """Return USDC on each domain, as messages name it."""
    return {
        get_domain(chain_id): bytes.fromhex(token_registry.token("USDC", chain_id).address[2:]).rjust(WORD, b"\0")
        for chain_id in bridge_facts("cctp")
    }


def _list_messengers() -> dict[int, bytes]:
    """Return each domain's messenger, as messages name it."""
    return {
        get_domain(chain_id): bytes.fromhex(facts.get_address("token_messenger")[2:]).rjust(WORD, b"\0")
        for chain_id in bridge_facts("cctp")
        for facts in read_deployments("cctp", chain_id)
    }
