"""By what payment orders are looked for, on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, validates_schema

from api.domain.ids import IdPrefix
from api.domain.orders import OrderStatus, StatusReason
from api.schemas.base import BaseSchema
from api.schemas.fields.addresses import Address, TransactionHash
from api.schemas.fields.deep_objects import DeepObject
from api.schemas.fields.limited import ChoicesField, CountField
from api.schemas.fields.paging import CursorField, IdField
from api.schemas.fields.plain import EnvModeField
from api.schemas.orders.payment_links import MomentField
from api.services.orders.refund_views import RefundStatus

MAX_PAGE = 100
DEFAULT_PAGE = 20
MOST = {"description": "At most so many"}
FROM, TO = "2026-03-01T00:00:00+01:00", "2026-04-01T00:00:00+01:00"
RANGES = (("created_from", "created_to"), ("updated_from", "updated_to"), ("moved_from", "moved_to"))


def _describe_moment(text: str, example: str = FROM) -> dict[str, str]:
    return {
        "description": f"{text}: a moment in ISO 8601 with its time zone",
        "example": example,
    }


class RangeQuery(BaseSchema):
    """Ranges of moments; one that ends before it begins is refused."""

    @validates_schema
    def refuse_empty_ranges(self, data: Mapping[str, Any], **_: object) -> None:
        """Refuse a range that ends before it begins."""
        wrong = [last for first, last in RANGES if first in data and last in data and data[last] <= data[first]]
        if wrong:
            raise ValidationError({name: ["Must be later than the beginning of the range"] for name in wrong})


class TransferExportQuery(RangeQuery):
    """When transfers must have moved."""

    env_mode = EnvModeField(metadata={"description": "The key's own environment without it"})
    moved_from = MomentField(metadata=_describe_moment("Mined at this moment or after it"))
    moved_to = MomentField(metadata=_describe_moment("Mined before", TO))


class OrderSearchQuery(RangeQuery):
    """What orders must have."""

    status = ChoicesField(
        OrderStatus,
        metadata={"description": "Orders of this status, or of one of these: repeated, or with commas between them"},
    )
    status_reason = ChoicesField(
        StatusReason,
        metadata={"description": "Orders with this reason, or with one of these; empty for those without one"},
    )
    env_mode = EnvModeField(metadata={"description": "The key's own environment without it"})
    metadata = DeepObject(
        metadata={
            "description": "Entries of the metadata, as `metadata[cart]=7`; several must all be there. Texts, numbers, "
            "`true`, `false` and `null` are found, as JSON writes them; what is nested is not",
            "example": {"cart": "7"},
        }
    )
    payer = Address(
        metadata={"description": "Address whose money came for the order, on any chain", "example": "0x" + "1a" * 20}
    )
    transaction_hash = TransactionHash(
        metadata={
            "description": "Any transaction of the order, on any chain: payment, deposit, delivery or refund",
            "example": "0x" + "5f" * 32,
        }
    )
    created_from = MomentField(metadata=_describe_moment("Made at this moment or after it"))
    created_to = MomentField(metadata=_describe_moment("Made before", TO))
    updated_from = MomentField(metadata=_describe_moment("Its status changed last at this moment or after it"))
    updated_to = MomentField(metadata=_describe_moment("Its status changed last before", TO))


class OrderListQuery(OrderSearchQuery):
    """Which orders to list."""

    limit = CountField(
        minimum=1, maximum=MAX_PAGE, load_default=DEFAULT_PAGE, metadata={"description": "At most so many"}
    )
    cursor = CursorField(
        IdPrefix.ORDER, metadata={"description": "`next_cursor` of the page before, with the same filters"}
    )


class RefundListQuery(RangeQuery):
    """Which refunds to list."""

    status = ChoicesField(
        RefundStatus,
        metadata={"description": "Refunds of this status, or of one of these: repeated, or with commas between them"},
    )
    env_mode = EnvModeField(metadata={"description": "The key's own environment without it"})
    payment_order_id = IdField(IdPrefix.ORDER, metadata={"description": "Refunds of this order only"})
    created_from = MomentField(metadata=_describe_moment("Asked for at this moment or after it"))
    created_to = MomentField(metadata=_describe_moment("Asked for before", TO))
    limit = CountField(
        minimum=1, maximum=MAX_PAGE, load_default=DEFAULT_PAGE, metadata={"description": "At most so many"}
    )
    cursor = CursorField(
        IdPrefix.REFUND, metadata={"description": "`next_cursor` of the page before, with the same filters"}
    )
