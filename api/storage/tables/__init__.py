"""All tables; importing this module registers every one with `Base.metadata`."""

from api.storage.base import Base
from api.storage.tables.ledger import SimulatedChain, SimulatedReorg, SimulatedTransfer
from api.storage.tables.orders import Payment, PaymentOrder, Refund, TimelineEntry
from api.storage.tables.reports import PaymentReport
from api.storage.tables.system import IdempotencyKey, JobSlot, StoredQuote, WatchCursor
from api.storage.tables.vendors import ApiKeyRow, SettlementAccount, Vendor
from api.storage.tables.webhooks import Event, WebhookAttempt, WebhookDelivery, WebhookSubscription

__all__ = [
    "ApiKeyRow",
    "Base",
    "Event",
    "IdempotencyKey",
    "JobSlot",
    "Payment",
    "PaymentOrder",
    "PaymentReport",
    "Refund",
    "SettlementAccount",
    "SimulatedChain",
    "SimulatedReorg",
    "SimulatedTransfer",
    "StoredQuote",
    "TimelineEntry",
    "Vendor",
    "WatchCursor",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookSubscription",
]
