"""What a test does to claim a transfer for an order by a signature."""

from __future__ import annotations

from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount

from api.services.settlement.claims.signed_claims import ClaimOffer, ClaimRefused, prepare_claims, submit_claim
from tests.support.attacks import BASE
from tests.support.settlement import ChainShop


def offers(shop: ChainShop, order_id: str, tx_hash: str, account: str) -> tuple[ClaimOffer, ...]:
    """Return what an account may claim of a transaction."""
    return prepare_claims(shop.shop.resources, order_id, chain_id=BASE, tx_hash=tx_hash, account=account.lower())


def sign(shop: ChainShop, order_id: str, tx_hash: str, account: str, signer: LocalAccount) -> None:
    """Sign what is offered to an account, which must be one transfer, and hand it in."""
    (offer,) = offers(shop, order_id, tx_hash, account)
    _hand_in(shop, order_id, tx_hash, account, offer, signer)


def sign_all(shop: ChainShop, order_id: str, tx_hash: str, signer: LocalAccount) -> None:
    """Sign whatever is offered to an account with a key, and hand it in."""
    for offer in offers(shop, order_id, tx_hash, signer.address):
        _hand_in(shop, order_id, tx_hash, signer.address, offer, signer)


def _hand_in(
    shop: ChainShop, order_id: str, tx_hash: str, account: str, offer: ClaimOffer, signer: LocalAccount
) -> None:
    signature = bytes(signer.sign_message(encode_typed_data(full_message=dict(offer.typed_data))).signature)
    submit(shop, order_id, tx_hash, account, offer.log_index, signature)


def claim(shop: ChainShop, order_id: str, tx_hash: str, account: str, signer: LocalAccount) -> None:
    """Sign what is offered to an account, and let the worker look."""
    sign(shop, order_id, tx_hash, account, signer)
    shop.pass_time(10)  # a quiet chain is written every ten seconds
    shop.look()


def submit(
    shop: ChainShop, order_id: str, tx_hash: str, account: str, log_index: int, signature: bytes = b"\x01" * 65
) -> None:
    """Hand in a signature; the one that is given without it fits nothing."""
    submit_claim(
        shop.shop.resources, order_id, chain_id=BASE, tx_hash=tx_hash, log_index=log_index, account=account.lower(),
        signature=signature,
    )  # fmt: skip


def may_claim(shop: ChainShop, order_id: str, tx_hash: str, account: str) -> bool:
    """Whether an account may claim something of a transaction: by what is offered, and by what is refused."""
    offered = bool(offers(shop, order_id, tx_hash, account))
    rows = [row for row in shop.shop.payments() if row.tx_hash == tx_hash]
    refused = []
    for row in rows:
        try:
            submit(shop, order_id, tx_hash, account, row.log_index)
        except ClaimRefused as refusal:
            refused.append(refusal.reason == "bad_signature")
    assert offered == any(refused)
    return offered
