"""Everything the engine raises on purpose.

`RoutingError` is the root; each class has a stable snake_case `code` that callers may match on.
"""

from __future__ import annotations

from enum import StrEnum


class RoutingError(Exception):
    """Root of all errors of this library."""

    code = "routing_error"


class InvalidRequest(RoutingError):
    """The caller asked for something that no market could make valid.

    Parameters
    ----------
    field : str
        Name of the offending field, as the caller spells it.
    message : str
        What is wrong and what to do about it.
    """

    code = "invalid_request"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class UnknownToken(InvalidRequest):
    """No token of the snapshot answers to this name or address."""

    code = "unknown_token"


class AmbiguousToken(InvalidRequest):
    """Several tokens share the symbol; the message lists their addresses."""

    code = "ambiguous_token"


class Unroutable(RoutingError):
    """The request is valid, but this snapshot cannot serve it."""

    code = "unroutable"


class NoRoute(Unroutable):
    """No path of the allowed markets and hops joins the two tokens."""

    code = "no_route"


class InsufficientLiquidity(Unroutable):
    """Paths exist, but none can take (or give) the amount."""

    code = "insufficient_liquidity"


class SearchEnded(Unroutable):
    """The budget of time or work ended before a route was found; there may be one."""

    code = "search_ended"


class PriceImpactTooHigh(Unroutable):
    """Routes exist, but each that was found loses more to the amount's own size than the request allows."""

    code = "price_impact_too_high"


class InvalidMarket(RoutingError):
    """A market's state contradicts itself or the protocol's bounds.

    Parameters
    ----------
    field : str
        The field at fault, as the record spells it.
    message : str
        What is wrong and what to do about it.
    """

    code = "invalid_market"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class InvalidAuction(RoutingError):
    """A request to solve an auction is none, or a part of it cannot be used.

    Parameters
    ----------
    field : str
        The field at fault, as the request spells it.
    message : str
        What is wrong and what to do about it.
    """

    code = "invalid_auction"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class BadFile(RoutingError):
    """A file cannot be read; nothing of it was loaded.

    Parameters
    ----------
    path : str
        The file.
    field : str
        Where in the file, as a dotted path (``pools.17.reserves``); empty when the file as a whole is at fault.
    message : str
        What is wrong and what to do about it.
    """

    code = "bad_file"

    def __init__(self, path: str, field: str, message: str) -> None:
        where = f"{path}: {field}" if field else path
        super().__init__(f"{where}: {message}")
        self.path = path
        self.field = field
        self.message = message


class BadMarketFile(BadFile):
    """A market file cannot be read; see `BadFile`."""

    code = "bad_market_file"


class BadChainsFile(BadFile):
    """A file that describes chains cannot be used; see `BadFile`."""

    code = "bad_chains_file"


class BadRequestFile(BadFile):
    """A file of requests cannot be read; see `BadFile`."""

    code = "bad_request_file"


class BadArchive(BadFile):
    """An archive of an answer cannot be read; see `BadFile`."""

    code = "bad_archive"


class BadRecording(BadFile):
    """A recording of a market cannot be read; see `BadFile`."""

    code = "bad_recording"


class BadAuctionFile(BadFile):
    """A file of an auction cannot be read; see `BadFile`."""

    code = "bad_auction_file"


class BrokenExtension(RoutingError):
    """What another package adds cannot be used; nothing else is concerned.

    Parameters
    ----------
    extension : str
        Its entry point and its package.
    message : str
        What is wrong with it.
    """

    code = "broken_extension"

    def __init__(self, extension: str, message: str) -> None:
        super().__init__(f"the extension {extension} {message}; mend the package or remove it")
        self.extension = extension
        self.message = message


class Refusal(StrEnum):
    """Why one market declines one amount."""

    INSUFFICIENT_LIQUIDITY = "INSUFFICIENT_LIQUIDITY"
    """It does not hold what the input would buy, or no input buys the output."""
    AMOUNT_TOO_LOW = "AMOUNT_TOO_LOW"
    """The input buys less than a unit, or is below the market's minimum."""
    AMOUNT_TOO_HIGH = "AMOUNT_TOO_HIGH"
    """The input is beyond a bound of the contract."""
    UNSUPPORTED_PAIR = "UNSUPPORTED_PAIR"
    """The tokens are not traded here, or not in this direction."""
    STALE = "STALE"
    """The state after an earlier swap is not known to the unit: a newer one must be loaded."""


class QuoteRefused(RoutingError):
    """One market declines one amount; a search catches it and goes on, so it never leaves the engine's router.

    Parameters
    ----------
    reason : Refusal
        Machine-readable reason.
    market_id : str
        The market that declined.
    detail : str, optional
        The bound that was hit, for a person.
    """

    code = "quote_refused"

    def __init__(self, reason: Refusal, market_id: str, detail: str = "") -> None:
        super().__init__(f"{market_id}: {reason}{': ' + detail if detail else ''}")
        self.reason = reason
        self.market_id = market_id
        self.detail = detail
