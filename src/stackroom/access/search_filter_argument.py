"""
What a caller's `filter` argument demands of documents: checked, and in the words of a filter.

Only ever added to what the caller may see (access/tenancy.py), so nothing in it can widen that.
"""

import math
from collections.abc import Mapping

from stackroom.access.tenancy import CATALOG, STORE_PREFIX, USER
from stackroom.documents.filters import Conditions, Filter, Has, Scalar, any_of

# User and catalog are two conditions, and Bedrock documents five a group and five groups.
MAX_KEYS = 3
MAX_VALUES = 5
MAX_KEY_LENGTH = 100  # FilterKey in the API model of Bedrock's Retrieve
MAX_VALUE_LENGTH = 2048  # stringValue of a document's metadata, in the same model


def conditions(asked: object) -> Conditions:
    """
    What a caller's `filter` argument demands: all of its keys, any of a key's values.

    Raises ValueError, fit to be shown to the caller.
    """
    if not isinstance(asked, Mapping):
        raise ValueError("must be an object of metadata keys and values")
    if len(asked) > MAX_KEYS:
        raise ValueError(f"names {len(asked)} keys, at most {MAX_KEYS} are possible")
    return tuple(_condition(_checked_key(key), value) for key, value in asked.items())


def _condition(key: str, asked: object) -> Filter:
    values = asked if isinstance(asked, list | tuple) else [asked]
    if not 1 <= len(values) <= MAX_VALUES:
        raise ValueError(f"{key!r} has {len(values)} values, 1 to {MAX_VALUES} are possible")
    checked = [_checked_value(key, value) for value in values]
    # By type too, for True and 1 are equal here and different in a store.
    distinct = {(type(value), value): value for value in checked}.values()
    return any_of(Has(key, value) for value in distinct)


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise ValueError(f"keys must be text of 1 to {MAX_KEY_LENGTH} characters")
    plain = key.strip().casefold()
    if plain in {USER, CATALOG} or plain.startswith(STORE_PREFIX):
        raise ValueError(
            f"may not name {key!r}: whose documents are searched follows from the signed-in user"
            " and the catalog_id argument"
        )
    return _encodable(key)


def _checked_value(key: str, value: object) -> Scalar:
    match value:
        case bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case str() if 1 <= len(value) <= MAX_VALUE_LENGTH:
            return _encodable(value)
        case _:
            raise ValueError(
                f"{key!r} must be text of 1 to {MAX_VALUE_LENGTH} characters, a number,"
                f" true or false, or a list of at most {MAX_VALUES} of these"
            )


def _encodable(text: str) -> str:
    """JSON can smuggle in half a surrogate pair, which no request to a store can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode text") from None
    return text
