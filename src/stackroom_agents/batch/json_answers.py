"""
An answer that must be JSON, by rules that need no schema.

The whole answer is JSON, or it has exactly one fenced block (three backticks, with or without the
word json) and that is. It is an object or an array: a lone number or text is what a model says when
it has no answer. What JSON can't say is refused: NaN, Infinity, a number too large for a double,
half of a surrogate pair; and an object with one name twice, of which nobody knows the value.
"""

import json
import math
import re
from typing import Any, NoReturn

from stackroom.errors import AnswerNotJson
from stackroom.gateway.plain_text import is_encodable

Json = dict[str, Any] | list[Any]

_FENCED = re.compile(
    r"^[ \t]*```[ \t]*(\w*)[ \t\r]*\n(.*?)^[ \t]*```[ \t\r]*$", re.MULTILINE | re.DOTALL
)


def parsed(answer: str) -> Json:
    """Raises AnswerNotJson, in words that the model can be told."""
    text = answer.strip().removeprefix("\ufeff")
    if not text:
        raise AnswerNotJson("it is empty")
    if text[0] in "{[":
        return _object_or_array(text)
    blocks = _FENCED.findall(text)
    if len(blocks) != 1:
        told = "no block" if not blocks else f"{len(blocks)} blocks"
        raise AnswerNotJson(
            "allowed is one object or array and nothing else, or one block of it between lines of"
            f" three backticks; there is {told}"
        )
    [(_, inside)] = blocks
    return _object_or_array(inside)


def _object_or_array(text: str) -> Json:
    try:
        value = json.loads(
            text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_distinct
        )
    except json.JSONDecodeError as error:
        # Its message has no text of the answer, but where it stands.
        raise AnswerNotJson(f"{error.msg}, line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise AnswerNotJson("it is nested too deeply") from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise AnswerNotJson(
            f"it has a number that can't be read ({type(error).__name__})"
        ) from None
    if not isinstance(value, dict | list):
        raise AnswerNotJson("allowed is an object or an array")
    if not is_encodable(value):
        raise AnswerNotJson("it has half of a surrogate pair, or is nested too deeply")
    return value


def _no_number(constant: str) -> NoReturn:
    raise AnswerNotJson(f"{constant} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise AnswerNotJson("it has a number that is too large")
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise AnswerNotJson("an object has one name twice")
    return found
