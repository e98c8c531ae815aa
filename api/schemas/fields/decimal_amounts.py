"""Amounts with their decimals beside them: a fraction is refused with how it is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError

from api.schemas.fields.plain import AmountField

MAX_DECIMALS = 36
NOISE = 1e-9
"""What floating point adds or leaves out of a product, at most, as a part of it."""
_FRACTION = re.compile(rf"([0-9]{{1,40}})\.([0-9]{{1,{MAX_DECIMALS}}})", re.ASCII)


class DecimalAmount(AmountField):
    """An amount beside which `decimals` stands or may stand; `thing` is what is counted by it."""

    thing: ClassVar[str]

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> int:
        try:
            return super()._deserialize(value, attr, data, **options)
        except ValidationError as error:
            remedy = self._write_without_point(value, (data or {}).get("decimals"))
            raise ValidationError(f"{error.messages[0]}{remedy}") from None

    def _write_without_point(self, value: object, decimals: object) -> str:
        """Say how a fraction is given, read in whole tokens and not as a count of units; nothing of anything else.

        A float with a long tail is a product that was meant to be whole: `19.99 * 100`.
        """
        found = _FRACTION.fullmatch(str(value)) if isinstance(value, (float, str)) else None
        if found is None:
            return ""
        if isinstance(value, float) and len(found[2]) > 1 and abs(value - round(value)) < NOISE * value:
            return f'; round it: "amount": {round(value)}'
        fraction = found[2].rstrip("0")
        has_room = type(decimals) is int and len(fraction) <= decimals <= MAX_DECIMALS
        places = decimals if type(decimals) is int and has_room else len(fraction)
        amount = int(found[1] + fraction) * 10 ** (places - len(fraction))
        return f'; a {self.thing} of {value} is written as "amount": {amount}, "decimals": {places}'


class PriceAmount(DecimalAmount):
    """An amount of a price."""

    thing = "price"

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> int:
        if self.minimum == 0 and type(value) is int and value < 0:
            raise ValidationError("Must be 0 to 2^256-1; a discount is a lower price of an item")
        amount = super()._deserialize(value, attr, data, **options)
        if amount == 0 < self.minimum:
            raise ValidationError("Must be 1 to 2^256-1; an order that costs nothing needs no payment link")
        return amount


class RefundAmount(DecimalAmount):
    """An amount that goes back."""

    thing = "refund"
