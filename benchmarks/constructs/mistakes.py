"""
Makes each mistake in an app of its own, and prints what the constructs say of it, as JSON.

    python mistakes.py our_mistakes
"""

import importlib
import json
import sys
from collections.abc import Callable, Mapping

import aws_cdk as cdk

Mistake = Callable[[cdk.Stack], object]


def told(made: Mapping[str, Mistake]) -> dict[str, str | None]:
    """For each mistake what is said of it, or None where the app is synthesised all the same."""
    return {name: _said_of(mistake) for name, mistake in made.items()}


def _said_of(mistake: Mistake) -> str | None:
    app = cdk.App(analytics_reporting=False)
    try:
        mistake(cdk.Stack(app, "librarian"))
        app.synth()
    except Exception as error:  # whatever refuses it
        lines = str(error).strip().splitlines()
        return lines[0] if lines else type(error).__name__
    return None


if __name__ == "__main__":
    # Its neighbour, found as a script finds it: the blueprint's environment has no other package.
    print(json.dumps(told(importlib.import_module(sys.argv[1]).MADE)))
