"""The JSONPath that the state machine uses: names joined by dots, from `$` or `$$`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

Read = Callable[[Any, Any], Any]  # takes the state's input and the context object

_PATH = re.compile(r"\${1,2}(\.[A-Za-z_][A-Za-z0-9_]*)*")


class Unsupported(Exception):
    """The definition uses a part of the States Language that is not supported here."""


class NoSuchPath(Exception):
    """A missing path, for which Step Functions ends an execution with States.Runtime."""


def reader(path: str) -> Read:
    """Return a function that reads the path. Raises Unsupported; the function, NoSuchPath."""
    if not _PATH.fullmatch(path):
        raise Unsupported(f"the path {path!r}")
    root, *names = path.split(".")
    of_context = root == "$$"

    def read(given: Any, context: Any) -> Any:
        found = context if of_context else given
        for name in names:
            if not isinstance(found, Mapping) or name not in found:
                raise NoSuchPath(path)
            found = found[name]
        return found

    return read


def template(payload: Any) -> Read:
    """Return a function that fills in members like `"epoch.$": "$.epoch"`. Raises Unsupported."""
    if not isinstance(payload, dict):
        return lambda _given, _context: payload
    members = [
        (name.removesuffix(".$"), reader(value) if name.endswith(".$") else template(value))
        for name, value in payload.items()
    ]
    return lambda given, context: {name: read(given, context) for name, read in members}


def writer(path: str | None) -> Callable[[Any, Any], Any]:
    """Return a function that puts a result into the input at a ResultPath. Raises Unsupported."""
    if path is None:
        return lambda given, _result: given
    root, *names = path.split(".")
    if not _PATH.fullmatch(path) or root != "$":
        raise Unsupported(f"the ResultPath {path!r}")
    return lambda given, result: _put(given, names, result)


def _put(given: Any, names: list[str], result: Any) -> Any:
    if not names:
        return result
    whole = dict(given) if isinstance(given, Mapping) else {}
    whole[names[0]] = _put(whole.get(names[0]), names[1:], result)
    return whole
