"""
One item's trouble kept from the others: whose affair an error is.

A loop over many keys, catalogs, records or data sources goes on after an error that is its item's,
and tells it with the item's name. What no item can do without ends the loop: the stores, and our
right to use them. docs/decisions/0011 says why the line is drawn here.
"""

from stackroom.errors import ServiceRefused, StoreUnavailable


def is_everybodys(error: Exception) -> bool:
    """Whether the next item would meet it, too."""
    return isinstance(error, StoreUnavailable | ServiceRefused)
