"""JSON schemas of a solver engine's request and answer.

Derived by hand from the types of `crates/solvers-dto/src` in cowprotocol/services: `auction.rs` at commit
07ff1a171e0f8a8af3fba8895da6acd298b43e93, and `solution.rs` at 01b3ede597fb734e627c9a3ab3af2a14bf8a4abc. The answer's
schema allows no further members, the request's does: serde ignores what it does not know.
"""

from __future__ import annotations

from typing import Any

ADDRESS = {"type": "string", "pattern": "^0x[0-9a-fA-F]{40}$"}
BYTES = {"type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$"}
HASH = {"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"}
UID = {"type": "string", "pattern": "^0x[0-9a-fA-F]{112}$"}
U256 = {"type": "string", "pattern": "^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$"}
DECIMAL = {"type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$"}
TEXT, FLAG = {"type": "string"}, {"type": "boolean"}
U64 = {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}


def write_object(members: dict[str, Any], optional: dict[str, Any] | None = None, *, closed: bool = False) -> Any:
    """Return the schema of an object."""
    found = {"type": "object", "properties": {**members, **(optional or {})}, "required": list(members)}
    return {**found, "additionalProperties": False} if closed else found


def write_list(of: Any) -> Any:
    """Return the schema of a list."""
    return {"type": "array", "items": of}


def write_map(of: Any) -> Any:
    """Return the schema of an object whose names are addresses."""
    return {"type": "object", "propertyNames": ADDRESS, "additionalProperties": of}


def allow_null(schema: Any) -> Any:
    """Return a schema that takes null too."""
    return {"anyOf": [schema, {"type": "null"}]}


CALL = write_object({"target": ADDRESS, "value": U256, "callData": BYTES})
QUOTE = write_object({"sellAmount": U256, "buyAmount": U256, "fee": U256})
FEE_POLICY = {
    "oneOf": [
        write_object({"volume": write_object({"factor": {"type": "number"}})}),
        write_object({"surplus": write_object({"factor": {"type": "number"}, "maxVolumeFactor": {"type": "number"}})}),
        write_object(
            {
                "priceImprovement": write_object(
                    {"factor": {"type": "number"}, "maxVolumeFactor": {"type": "number"}, "quote": QUOTE}
                )
            }
        ),
    ]
}
ORDER = write_object(
    {
        "uid": UID, "sellToken": ADDRESS, "buyToken": ADDRESS, "sellAmount": U256, "fullSellAmount": U256,
        "buyAmount": U256, "fullBuyAmount": U256, "validTo": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
        "kind": {"enum": ["sell", "buy"]}, "owner": ADDRESS, "partiallyFillable": FLAG,
        "preInteractions": write_list(CALL), "postInteractions": write_list(CALL),
        "sellTokenSource": {"enum": ["erc20", "external", "internal"]},
        "buyTokenDestination": {"enum": ["erc20", "internal"]}, "class": {"enum": ["market", "limit"]},
        "appData": HASH, "signingScheme": {"enum": ["eip712", "ethsign", "eip1271", "presign"]}, "signature": BYTES,
    },
    {"feePolicies": write_list(FEE_POLICY), "receiver": ADDRESS},
)  # fmt: skip
TOKEN = write_object(
    {"availableBalance": U256, "trusted": FLAG},
    {
        "decimals": allow_null({"type": "integer", "minimum": 0, "maximum": 255}), "symbol": allow_null(TEXT),
        "referencePrice": allow_null(U256),
    },
)  # fmt: skip
POOL = {"id": TEXT, "address": ADDRESS, "gasEstimate": U256}
RESERVE = {"balance": U256}
LIQUIDITY = {
    "oneOf": [
        write_object({
            **POOL, "kind": {"const": "constantProduct"}, "router": ADDRESS, "fee": DECIMAL,
            "tokens": write_map(write_object(RESERVE)),
        }),
        write_object({
            **POOL, "kind": {"const": "weightedProduct"}, "balancerPoolId": HASH, "fee": DECIMAL,
            "version": {"enum": ["v0", "v3Plus"]},
            "tokens": write_map(write_object({**RESERVE, "scalingFactor": DECIMAL, "weight": DECIMAL})),
        }),
        write_object({
            **POOL, "kind": {"const": "stable"}, "balancerPoolId": HASH, "fee": DECIMAL,
            "amplificationParameter": DECIMAL,
            "tokens": write_map(write_object({**RESERVE, "scalingFactor": DECIMAL})),
        }),
        write_object({
            **POOL, "kind": {"const": "concentratedLiquidity"}, "router": ADDRESS, "fee": DECIMAL,
            "tokens": write_list(ADDRESS), "sqrtPrice": U256, "liquidity": TEXT, "tick": {"type": "integer"},
            "liquidityNet": {"type": "object", "additionalProperties": TEXT},
        }),
        write_object({
            **POOL, "kind": {"const": "limitOrder"}, "hash": HASH, "makerToken": ADDRESS, "takerToken": ADDRESS,
            "makerAmount": U256, "takerAmount": U256, "takerTokenFeeAmount": U256,
        }),
    ]
}  # fmt: skip
AUCTION = write_object({
    "id": allow_null(TEXT), "tokens": write_map(TOKEN), "orders": write_list(ORDER), "liquidity": write_list(LIQUIDITY),
    "effectiveGasPrice": U256, "deadline": {"type": "string", "format": "date-time"},
    "surplusCapturingJitOrderOwners": write_list(ADDRESS),
})  # fmt: skip

INTERACTION = write_object(
    {
        "kind": {"const": "liquidity"}, "internalize": FLAG, "id": TEXT, "inputToken": ADDRESS, "outputToken": ADDRESS,
        "inputAmount": U256, "outputAmount": U256,
    },
    closed=True,
)  # fmt: skip
FULFILLMENT = write_object(
    {"kind": {"const": "fulfillment"}, "order": UID, "executedAmount": U256}, {"fee": U256}, closed=True
)
SOLUTION = write_object(
    {"id": U64, "prices": write_map(U256), "trades": write_list(FULFILLMENT), "interactions": write_list(INTERACTION)},
    {"preInteractions": write_list(CALL), "postInteractions": write_list(CALL), "gas": U64},
    closed=True,
)
ANSWER = write_object({"solutions": write_list(SOLUTION)}, closed=True)
