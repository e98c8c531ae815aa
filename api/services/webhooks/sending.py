"""One delivery on its way: signed, and sent to where its receiver may be reached."""

from __future__ import annotations

from api.net.addresses import Reach
from api.net.client import HttpReply, SafeClient, Transport
from api.secrets.keys import SecretKeyFault
from api.services.resources import Resources
from api.services.webhooks.leases import DeliveryLease
from api.services.webhooks.secrets import name_purpose
from api.services.webhooks.signing import sign_headers


def send(resources: Resources, lease: DeliveryLease, transport: Transport | None = None) -> HttpReply:
    """Send a delivery, and return what came back.

    Parameters
    ----------
    transport : Transport, optional
        The internet by default.

    Raises
    ------
    SecretKeyFault
        If there is nothing to sign with.
    """
    reach = Reach.of(resources.config, lease.env_mode)
    box, purpose = resources.box, name_purpose(lease.subscription_id)
    secrets = [box.open(ciphertext, purpose) for ciphertext in lease.secrets]
    if not secrets:
        raise SecretKeyFault(f"There is no secret to sign for {lease.subscription_id}")
    headers = sign_headers(lease, secrets, resources.clock.now())
    return (transport or SafeClient(resources.resolver)).post(lease.url, lease.payload.encode(), headers, reach)
