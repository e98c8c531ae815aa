"""The API key of the caller."""

from __future__ import annotations

from typing import Any

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.schemas.vendors.api_keys import ApiKeySchema
from api.services.vendors.key_management import describe_key
from api.web.security import get_caller_key, key_required

blueprint = Blueprint("api_keys", __name__, url_prefix="/api/v1/api_key", description="The key that is calling")


@blueprint.get("", operation="getApiKey")
@key_required(None)
@blueprint.answer(ApiKeySchema)
def show() -> dict[str, Any]:
    """Read what the calling key is for, what it may do and when it ends.

    Keys are made and revoked by the operator, with `checkout keys`.
    """
    with get_resources().database.read() as session:
        return describe_key(session, get_caller_key())
