"""What a payment costs in all: the price, each fee and their sum, rounded so that the parts make the whole as shown.

The sum of the fees is rounded up to a unit, and the rows share its units by the largest remainders. The total is the
price, to its last digit, and that sum.
"""

from __future__ import annotations

from collections.abc import Sequence

from api.checkout_page.language.strings import Strings
from api.checkout_page.money.amounts import CENT_SYMBOLS, CENTS, format_number, join_unit
from api.services.orders.views import PublicOrder

FEE_DIGITS = 2
"""Of the sum of the fees, in currencies without cents."""


def choose_unit(fees: int, decimals: int, symbol: str) -> int:
    """Return what the fees of one payment are counted in, smallest units: cents where a currency has them."""
    places = decimals - CENTS if symbol in CENT_SYMBOLS else len(str(fees)) - FEE_DIGITS
    unit: int = 10 ** max(0, places)
    return unit


def share_units(amounts: Sequence[int], unit: int) -> list[int]:
    """Return how many units each amount is shown with; together they are the sum's, rounded up.

    Examples
    --------
    >>> share_units([6, 6, 1], 10)
    [1, 1, 0]
    """
    shares = [amount // unit for amount in amounts]
    spare = -(-sum(amounts) // unit) - sum(shares)
    by_remainder = sorted(range(len(amounts)), key=lambda place: -(amounts[place] % unit))
    for place in by_remainder[:spare]:
        shares[place] += 1
    return shares


def write_total(total: int, due: int, order: PublicOrder, strings: Strings) -> str:
    """Write the price and the fees in one amount; fees of less than a unit are left to the text that names them."""
    decimals, symbol = _name_currency(order)
    unit = choose_unit(total - due, decimals, symbol)
    fees = 0 if is_tiny(total - due, unit) else -(-(total - due) // unit) * unit
    return join_unit(format_number(due + fees, decimals, symbol, strings), symbol, strings)


def write_fees(total: int, due: int, order: PublicOrder, strings: Strings, *, is_named: bool = True) -> str:
    """Write the sum of the fees, with its currency unless the text around it names that."""
    decimals, symbol = _name_currency(order)
    unit = choose_unit(total - due, decimals, symbol)
    is_less = is_tiny(total - due, unit)
    return write_units(-(-(total - due) // unit), unit, order, strings, is_less=is_less, is_named=is_named)


def write_units(
    count: int, unit: int, order: PublicOrder, strings: Strings, *, is_less: bool, is_named: bool = True
) -> str:
    """Write so many units of the price's currency; where it is less than one only that."""
    decimals, symbol = _name_currency(order)
    number = format_number(unit if is_less else count * unit, decimals, symbol, strings)
    text = join_unit(number, symbol, strings) if is_named else number
    return strings.fees["tiny"].format(amount=text) if is_less else text


def is_tiny(amount: int, unit: int) -> bool:
    """Whether there is something, and less than a unit."""
    return 0 < amount < unit


def _name_currency(order: PublicOrder) -> tuple[int, str]:
    """Return the digits of the settlement token after its point, and the price's currency, for which it stands."""
    return order.settlement_token_decimals or 0, order.price_currency
