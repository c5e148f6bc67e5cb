"""docs/cli.md: the command line on a deployment, and the keys of each verb's JSON."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from docs.tables import table
from stackroom_local.cli.commands import EXIT_CODES, FAILS_WHEN, VERBS, ListedCommand
from stackroom_local.cli.json_output import ANSWERS, Changed, Failed, JsonAnswer

CLI = Path(__file__).parents[1] / "docs" / "cli.md"

_HEAD = """# The command line

Made by `make docs` from src/stackroom_local/cli. `stackroom VERB --help` has the options.

`stackroom VERB` works on the local mode of this machine, `stackroom --deployment NAME VERB` on a
deployment on AWS (or set `STACKROOM_DEPLOYMENT`). A deployment is added once:

```sh
stackroom deployments add prod --outputs cdk.out/outputs.json   # what `make deploy` wrote
stackroom deployments add prod --project stackroom --region eu-central-1   # or ask AWS
stackroom --deployment prod doctor
```

What is kept of it are names and addresses, no secret. They stand in `deployments.json` of
`~/.config/stackroom` (below `XDG_CONFIG_HOME`; on macOS and Windows where these keep such files; or
in the folder that `STACKROOM_CONFIG` names), the tokens of whoever signed in beside it, mode 0600.

Two kinds of people use it:

- **whoever has documents** signs in with `stackroom --deployment prod login`, in a browser, and
  needs no AWS credentials. `ask`, `evaluate`, `drop`, `status`, `catalogs` and `delete` are then
  about their own documents, by the gateway's tools;
- **operators** use their AWS credentials, as the AWS CLI does (`AWS_PROFILE`, `aws sso login`).
  They name whose documents they mean with `--user`, or all with `--everybody`.

In the local mode neither is needed: whoever may read its directory may be anybody (`--user`).

What differs on a deployment: `reconcile` is the work of the deployed function, which goes on with
the round that is under way, and the same function deletes a catalog for an operator; files that
somebody signed in drops go by links, one after the other.

"""
_JSON = """
## JSON

Every verb takes `--json`: one document on standard output and nothing else; `events`, and what
takes `--watch` or `--until-settled`, one a line. No key is renamed or changes its meaning; later
versions may add some. Times are ISO 8601, sizes bytes. A verb that fails says why on standard
error, with its [exit code](#exit-codes) as without `--json`:

"""


def cli() -> str:
    return "".join((_HEAD, _verbs(), _exit_codes(), _JSON, "\n".join(_shapes()), "\n"))


def _verbs() -> str:
    rows = []
    for typed, listed in VERBS.items():
        answer = ANSWERS[typed]
        shape = "the tool's own answer" if answer is None else f"`{answer.__name__}`"
        rows.append((f"`{typed}`", _said(listed), _need(listed), shape))
    return "## Verbs\n\n" + table(("verb", "what it does", "on a deployment", "JSON"), rows)


def _exit_codes() -> str:
    codes = ((f"`{code}`", text) for code, text in EXIT_CODES.items())
    verbs = ((f"`{verb}`", when) for verb, when in FAILS_WHEN.items())
    return "\n".join(
        (
            "\n## Exit codes\n",
            table(("exit code", "meaning"), codes),
            table(("verb", "exits with 1 when"), verbs),
        )
    )


def _need(listed: ListedCommand) -> str:
    return listed.need.removeprefix("Needs, on a deployment: ")


def _said(listed: ListedCommand) -> str:
    told = inspect.getdoc(listed.verb) or ""
    return " ".join(told.partition("\n\n")[0].split()).replace("|", "\\|")


def _shapes() -> Iterator[str]:
    told: dict[type[BaseModel], None] = {Failed: None}
    for answer in (*ANSWERS.values(), Changed):
        if answer is not None:
            told.setdefault(answer)
    for shape in _with_parts(told):
        yield f"### {shape.__name__}\n"
        if (about := inspect.getdoc(shape)) and shape.__doc__ != JsonAnswer.__doc__:
            yield f"{' '.join(about.partition(chr(10) * 2)[0].split())}\n"
        yield "| key | type | |"
        yield "| --- | --- | --- |"
        for name, field in shape.model_fields.items():
            yield f"| `{name}` | {_type(field.annotation)} | {field.description or ''} |"
        yield ""


def _with_parts(shapes: dict[type[BaseModel], None]) -> list[type[BaseModel]]:
    """Each shape once, followed by those that it is made of."""
    found: dict[type[BaseModel], None] = {}
    waiting = list(shapes)
    while waiting:
        shape = waiting.pop(0)
        if shape in found:
            continue
        found[shape] = None
        parts = [
            each for field in shape.model_fields.values() for each in _models(field.annotation)
        ]
        waiting = [*parts, *waiting]
    return list(found)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)


def _type(annotation: Any) -> str:
    arguments = [each for each in get_args(annotation) if each is not NoneType]
    optional = " or null" if NoneType in get_args(annotation) else ""
    origin = get_origin(annotation)
    if origin in (list, tuple, dict):
        inner = ", ".join(_type(each) for each in arguments if each is not ...)
        name = "dict" if origin is dict else "list"  # as JSON has them
        return f"{name} of {inner}{optional}"
    if optional:
        return f"{_type(arguments[0])}{optional}"
    name = getattr(annotation, "__name__", str(annotation))
    return name if name in {"str", "int", "bool", "float", "datetime"} else f"`{name}`"
