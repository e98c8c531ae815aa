"""What customers see of a vendor."""

from __future__ import annotations

from typing import Any

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.scopes import Scope
from api.schemas.vendors.brands import EXAMPLE, BrandAnswer, BrandChangeSchema
from api.services.vendors.api_keys import ApiKey
from api.services.vendors.brands import Brand, change_brand, read_brand
from api.web.security import get_caller_key, key_required

blueprint = Blueprint("branding", __name__, url_prefix="/api/v1/branding", description="The look of the payment page")


@blueprint.get("", operation="getBranding")
@key_required(Scope.READ)
@blueprint.answer(BrandAnswer)
def show() -> dict[str, Any]:
    """Read the name, colour, contact and logo of the key's environment."""
    key = get_caller_key()
    with get_resources().database.read() as session:
        return _describe(key, read_brand(session, key.vendor_id, key.env_mode))


@blueprint.patch("", operation="updateBranding")
@key_required(Scope.ORDERS)
@blueprint.body(BrandChangeSchema, example=EXAMPLE)
@blueprint.answer(BrandAnswer)
def change(body: dict[str, Any]) -> dict[str, Any]:
    """Change some of them, for open orders too. The same request again changes nothing more."""
    key, shared = get_caller_key(), get_resources()
    logo = body.pop("logo", None)
    with shared.database.write(by=key.key_id) as session:
        return _describe(key, change_brand(session, key.vendor_id, key.env_mode, body, logo, shared.clock.now()))


def _describe(key: ApiKey, brand: Brand) -> dict[str, Any]:
    logo_url = f"{get_resources().config.base_url}/brand/{brand.logo_file}" if brand.logo_file else ""
    return {
        "env_mode": key.env_mode,
        "display_name": brand.display_name,
        "accent_color": brand.accent_color,
        "support": brand.support,
        "logo_url": logo_url,
        "updated_at": brand.updated_at,
    }
