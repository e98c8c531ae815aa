"""The series of metrics that an operator watches: what each is called, says, and is told apart by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_BY_ENV, _BY_CHAIN, _BY_SOURCE = ("env_mode",), ("env_mode", "chain_id"), ("source",)
_BY_ENDPOINT = (*_BY_CHAIN, "endpoint", "host")
"""Its place in the settings, since a host may be there twice, and its host: the rest of its address may hold a key."""

GAUGES: Mapping[str, tuple[str, Sequence[str]]] = {
    "checkout_webhook_deliveries": ("Webhook deliveries", ("status",)),
    "checkout_webhook_oldest_pending_seconds": ("Age of the oldest undelivered event", ()),
    "checkout_webhook_overdue_seconds": ("Since when a delivery to a receiver that takes them is due", ()),
    "checkout_webhook_receivers": ("Webhooks, by how they fare", (*_BY_ENV, "state")),
    "checkout_webhook_receiver_failing_seconds": ("Since when a live receiver takes nothing", ("webhook_id",)),
    "checkout_payments_unmatched": ("Payments that belong to no order", _BY_ENV),
    "checkout_payments_lost": ("Payments that counted, and that their chain has lost", _BY_ENV),
    "checkout_payments_unproven": ("Payments of orders that no proof was found for in two minutes", _BY_ENV),
    "checkout_payments_overdue": ("Payments of orders that should have been final ten minutes ago", _BY_CHAIN),
    "checkout_chain_read_seconds": ("Age of the last block read", _BY_CHAIN),
    "checkout_blocks_doubtful": ("Blocks that may hold more than was said of them", _BY_CHAIN),
    "checkout_bridge_events_unread": (
        "Transactions at whose events a bridge's code fails; nothing of them counts",
        (*_BY_CHAIN, "bridge", "tx_hash"),
    ),
    "checkout_chain_traces": ("Whether an endpoint traces transactions", _BY_CHAIN),
    "checkout_duty_lapsed_seconds": ("Since when nobody does a duty, or a share of it; 0 if a worker does", ("duty",)),
    "checkout_worker_silent_seconds": (
        "Since when a worker that has not left is not heard of; 0 while it lives",
        ("worker",),
    ),
    "checkout_database_up": ("Whether the database answers this process", ()),
    "checkout_database_writable": ("Whether workers can write down what they do", ()),
    "checkout_backup_age_seconds": ("Age of the newest copy by `checkout db backup`, once there is one", ()),
    "checkout_chain_unread_seconds": ("Since when a chain was not read", _BY_CHAIN),
    "checkout_endpoint_up": ("Whether an endpoint answers", _BY_ENDPOINT),
    "checkout_endpoint_in_step": ("Whether its blocks are those of the others", _BY_ENDPOINT),
    "checkout_endpoint_of_chain": ("Whether it has not said that it is of another chain", _BY_ENDPOINT),
    "checkout_refunds_unsent": ("Refunds asked for over a day ago that no chain has all of", _BY_ENV),
    "checkout_certificate_seconds": ("Until the certificate at BASE_URL ends, where that is https", ()),
    "checkout_process_resident_bytes": ("Memory of the HTTP process that answers", ()),
    "checkout_redis_up": ("Whether Redis answers, where there is one", ()),
    "checkout_source_up": ("Whether nothing is wrong with a source of rates", _BY_SOURCE),
    "checkout_source_fresh_seconds": ("Until its rates are left out", _BY_SOURCE),
    "checkout_source_reading_seconds": ("What its last reading took", _BY_SOURCE),
    "checkout_source_refused_pools": ("Pools left out, by protocol and reason", (*_BY_SOURCE, "reason")),
}
COUNTERS: Mapping[str, tuple[str, Sequence[str]]] = {
    "checkout_source_readings": ("Readings", _BY_SOURCE),
    "checkout_source_failures": ("Readings in vain", _BY_SOURCE),
}
