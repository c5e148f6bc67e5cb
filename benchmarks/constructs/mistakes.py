"""Makes each mistake in an app of its own, and prints what the constructs say of it, as JSON."""

import json
from collections.abc import Callable, Mapping

import aws_cdk as cdk

Mistake = Callable[[cdk.Stack], object]


def tell(made: Mapping[str, Mistake]) -> None:
    """For each mistake what is said of it, or None where the app is synthesised all the same."""
    print(json.dumps({name: _said_of(mistake) for name, mistake in made.items()}))


def _said_of(mistake: Mistake) -> str | None:
    app = cdk.App(analytics_reporting=False)
    try:
        mistake(cdk.Stack(app, "librarian"))
        app.synth()
    except Exception as error:  # whatever refuses it
        told = str(error).strip().splitlines() or [type(error).__name__]
        return told[0]
    return None
