"""All tables; importing this module registers every one with `Base.metadata`.

May import `domain`, `storage.base` and `storage.types`. Begin with `orders.py`.
"""

from api.storage.base import Base
from api.storage.tables.audit import AuditEntry
from api.storage.tables.brands import VendorBrand
from api.storage.tables.ledger import SimulatedChain, SimulatedReorg, SimulatedTransfer
from api.storage.tables.market import MarketSnapshot
from api.storage.tables.orders import OrderMetadata, Payment, PaymentOrder, Refund, TimelineEntry
from api.storage.tables.reports import PaymentClaim, PaymentHint
from api.storage.tables.system import (
    ArchivedBatch,
    DoubtfulBlock,
    IdempotencyKey,
    JobSlot,
    Lease,
    QuotePayer,
    SchemaCompatibility,
    StoredQuote,
    WatchCursor,
    WatchedEndpoint,
)
from api.storage.tables.vendors import ApiKeyRow, OwnedAddress, SettlementAccount, Vendor
from api.storage.tables.webhooks import (
    WebhookAttempt,
    WebhookDelivery,
    WebhookEvent,
    WebhookSecret,
    WebhookSubscription,
)

__all__ = [
    "ApiKeyRow",
    "ArchivedBatch",
    "AuditEntry",
    "Base",
    "DoubtfulBlock",
    "IdempotencyKey",
    "JobSlot",
    "Lease",
    "MarketSnapshot",
    "OrderMetadata",
    "OwnedAddress",
    "Payment",
    "PaymentClaim",
    "PaymentHint",
    "PaymentOrder",
    "QuotePayer",
    "Refund",
    "SchemaCompatibility",
    "SettlementAccount",
    "SimulatedChain",
    "SimulatedReorg",
    "SimulatedTransfer",
    "StoredQuote",
    "TimelineEntry",
    "Vendor",
    "VendorBrand",
    "WatchCursor",
    "WatchedEndpoint",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookEvent",
    "WebhookSecret",
    "WebhookSubscription",
]
