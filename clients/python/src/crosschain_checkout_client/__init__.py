"""Client of the crosschain-checkout service; begin with `CheckoutClient`, or `AsyncCheckoutClient`.

`verify_webhook` checks what webhooks receive, `models` has the types, `errors` what can go wrong.
"""

from crosschain_checkout_client import errors, models
from crosschain_checkout_client.async_client import AsyncCheckoutClient
from crosschain_checkout_client.client import CheckoutClient
from crosschain_checkout_client.errors import CheckoutError, NoRoute, Refused, WebhookRefused, WebhookUnreadable
from crosschain_checkout_client.filters import OrderFilter, RefundFilter
from crosschain_checkout_client.retries import Retries
from crosschain_checkout_client.webhooks import ReceivedEvent, verify_webhook

__all__ = [
    "AsyncCheckoutClient",
    "CheckoutClient",
    "CheckoutError",
    "NoRoute",
    "OrderFilter",
    "ReceivedEvent",
    "RefundFilter",
    "Refused",
    "Retries",
    "WebhookRefused",
    "WebhookUnreadable",
    "errors",
    "models",
    "verify_webhook",
]
