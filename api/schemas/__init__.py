"""Wire formats: what comes in is checked here, field by field.

May import `adapters`, `bodies`, `context`, `domain`, `routing_engine` and `services`. Begin with `base.py`.
"""

from api.schemas.base import AnswerSchema, BaseSchema, HttpsInLive, problems_of, refuse_unknown
from api.schemas.fields.addresses import Address, TransactionHash
from api.schemas.fields.plain import (
    AmountField,
    ChainIdField,
    EnvModeField,
    FreeObject,
    IntegerField,
    ListField,
    ObjectField,
    TextField,
    WholeNumber,
)
from api.schemas.fields.urls import UrlField

__all__ = [
    "Address",
    "AmountField",
    "AnswerSchema",
    "BaseSchema",
    "ChainIdField",
    "EnvModeField",
    "FreeObject",
    "HttpsInLive",
    "IntegerField",
    "ListField",
    "ObjectField",
    "TextField",
    "TransactionHash",
    "UrlField",
    "WholeNumber",
    "problems_of",
    "refuse_unknown",
]
