"""
ministack, with one fault of version 1.5.33 mended: its IAM takes a line break for the end of a key.

`python -m stackroom_local.ministack`. S3 takes line breaks in keys, and a wildcard of a policy any
character [IAM user guide: reference_policies_elements_resource]; ministack compiles `*` to `.*`, so
that no policy but `*` itself allows, or denies, anything about such a key. A new version needs a
look here: tests/local/test_ministack.py says whether it still has the fault.
"""

import re
from functools import lru_cache

from ministack.core import iam_evaluator

_ANY = {"*": ".*", "?": "."}


@lru_cache(4096)
def wildcard(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    """A policy's pattern as an expression of the whole text, of however many lines."""
    expression = "".join(_ANY.get(each) or re.escape(each) for each in pattern)
    return re.compile(rf"{expression}\Z", re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def mend() -> None:
    iam_evaluator._fnmatch_compile = wildcard


if __name__ == "__main__":
    from ministack.app import main

    mend()
    main()
