"""Writes docs/cli.md, the command line's reference, and docs/cli-schema.json, that of its JSON."""

import inspect
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from docs.tables import table
from stackroom_cli.commands import COMMANDS, EXIT_CODES, FAILS_WHEN, ListedCommand, Need
from stackroom_cli.evaluation_output import EvaluateAnswer
from stackroom_cli.json_output import (
    AdoptAnswer,
    CapsAnswer,
    CatalogsAnswer,
    Changed,
    DashboardAnswer,
    DeleteAnswer,
    DemoAnswer,
    DeploymentsAnswer,
    DeploymentTold,
    DoctorAnswer,
    DoneAnswer,
    DraftAnswer,
    DropAnswer,
    EventTold,
    Failed,
    JsonAnswer,
    KeptAnswer,
    LoadAnswer,
    PassagesAnswer,
    PoolAnswer,
    ReceiptsAnswer,
    ReconcileAnswer,
    RedeliveredAnswer,
    RereadAnswer,
    RetryAnswer,
    ServingAnswer,
    SmokeAnswer,
    StatusAnswer,
    TokenAnswer,
    UsageAnswer,
    VariablesAnswer,
    WebhookAnswer,
    WebhooksAnswer,
    WhoamiAnswer,
)

CLI = Path(__file__).with_name("cli.md")
CLI_SCHEMA = Path(__file__).with_name("cli-schema.json")
# By what is typed; None where it is the retrieve tool's own answer.
ANSWERS: dict[str, type[JsonAnswer] | None] = {
    "up": ServingAnswer,
    "down": DoneAnswer,
    "env": VariablesAnswer,
    "doctor": DoctorAnswer,
    "doctor --smoke": SmokeAnswer,
    "drop": DropAnswer,
    "adopt": AdoptAnswer,
    "status": StatusAnswer,
    "status --pool": PoolAnswer,
    "delete": DeleteAnswer,
    "catalogs": CatalogsAnswer,
    "receipts": ReceiptsAnswer,
    "retry": RetryAnswer,
    "reread": RereadAnswer,
    "reconcile": ReconcileAnswer,
    "dashboard": DashboardAnswer,
    "ask": None,
    "retrieve": None,
    "evaluate": EvaluateAnswer,
    "evaluate --draft": DraftAnswer,
    "evaluate --kept": KeptAnswer,
    "events": EventTold,
    "login": TokenAnswer,
    "logout": DoneAnswer,
    "token": TokenAnswer,
    "whoami": WhoamiAnswer,
    "load": LoadAnswer,
    "passages": PassagesAnswer,
    "demo": DemoAnswer,
    "usage": UsageAnswer,
    "caps set": CapsAnswer,
    "caps list": CapsAnswer,
    "caps remove": CapsAnswer,
    "deployments add": DeploymentTold,
    "deployments list": DeploymentsAnswer,
    "deployments remove": DoneAnswer,
    "webhooks add": WebhookAnswer,
    "webhooks list": WebhooksAnswer,
    "webhooks remove": DoneAnswer,
    "webhooks secret": WebhookAnswer,
    "webhooks redeliver": RedeliveredAnswer,
}

_HEAD = """# The command line

This page lists commands, exit codes and JSON of `stackroom`; `stackroom COMMAND --help` lists
options.
`make docs` writes it from src/stackroom_cli.

`stackroom COMMAND` works on this machine's local mode, `stackroom --deployment NAME COMMAND` on a
deployment on AWS; `STACKROOM_DEPLOYMENT` can name it instead. Add a deployment once:

```sh
stackroom deployments add prod --outputs cdk.out/outputs.json   # what `make deploy` wrote
stackroom deployments add prod --project stackroom --region eu-central-1   # or ask AWS
stackroom --deployment prod doctor
```

Its names and addresses, but no secrets, are saved in `deployments.json` in `~/.config/stackroom`
(or below `XDG_CONFIG_HOME`; on macOS and Windows in the usual place; or in the folder that
`STACKROOM_CONFIG` names). Tokens of signed-in users are saved beside it with mode 0600.

On a deployment:

- **Users** sign in with `stackroom --deployment prod login`, and need no AWS credentials. `ask`,
  `evaluate`, `drop`, `status`, `catalogs` and `delete` then use the gateway's tools on the user's
  own documents. Files are uploaded by links, one after another.
- **Operators** use AWS credentials like the AWS CLI (`AWS_PROFILE`, `aws sso login`), and name a
  user with `--user`, or all with `--everybody`. The deployed reconciler does the work of
  `reconcile`, continuing the round that is under way, and deletes catalogs for operators.

The local mode needs neither: anyone who can read its directory can act as any user (`--user`).

## Commands

What a command needs on a deployment: *sign-in* is `stackroom login`; *operator* is AWS credentials;
*either* is a sign-in, or AWS credentials with one of the named options; *local* commands work only
in the local mode.

"""
_NEEDS = {
    Need.LOCAL: "local",
    Need.APART: "a database",
    Need.SIGN_IN_FOR_CATALOG: "sign-in with `--catalog`",
    Need.NOTHING: "nothing",
    Need.SIGN_IN: "sign-in",
    Need.OPERATOR: "operator",
    Need.OUTPUTS: "operator with `--project`",
    Need.SIGN_IN_OR_GIVEN: "sign-in or `--token`",
    Need.EITHER: "either (`--user`)",
    Need.EITHER_OR_ALL: "either (`--user`, `--everybody`)",
}
_FAILS_WHEN = """
Any command exits with 1 when the local mode is not running, the deployment is unknown, a user id or
catalog is invalid or unknown, a sign-in or right is missing, or a service does not answer. Beyond
that:

"""
_JSON = """
## JSON

With `--json` a command prints one JSON document on standard output and nothing else; `events`,
`--watch` and `--until-settled` print one per line. A command that fails prints `Failed` on standard
error and exits with the same [code](#exit-codes) as without `--json`; its own answer may still be
on standard output. Keys are never renamed and keep their meaning; later versions may add keys.
Times are ISO 8601, sizes are bytes.

[cli-schema.json](cli-schema.json) is a JSON Schema with the type and meaning of every key. This
prints the answer of `drop`:

```sh
jq '."$defs"[.answers.drop."$ref" | split("/")[-1]]' docs/cli-schema.json
```
"""


def cli() -> str:
    return "".join((_HEAD, _verbs(), _exit_codes(), _JSON))


def cli_schema() -> str:
    """Return the text of docs/cli-schema.json: the answer of each command, and the definitions."""
    models: list[tuple[type[BaseModel], JsonSchemaMode]]
    models = [(each, "serialization") for each in _answers()]
    _, schema = models_json_schema(models)
    answers = {**ANSWERS, "status --watch": Changed, "status --until-settled": Changed}
    by_verb = {
        typed: {"$ref": f"#/$defs/{answer.__name__}"} for typed, answer in answers.items() if answer
    }
    content = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "answers": by_verb,
        "$defs": _without_titles(schema["$defs"]),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _without_titles(schema: Any) -> Any:
    """Remove titles, which repeat names, and bans of other keys, as later versions may add keys."""
    if isinstance(schema, list):
        return [_without_titles(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_titles(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "additionalProperties" and value is False)
    }


def _verbs() -> str:
    rows = []
    for typed, listed in COMMANDS.items():
        rows.append((f"`{typed}`", _summary(listed), _NEEDS[listed.need]))
    return table(("command", "what it does", "needs"), rows)


def _exit_codes() -> str:
    codes = ((f"`{code}`", text) for code, text in EXIT_CODES.items())
    commands: dict[str, list[str]] = {}
    for command, when in FAILS_WHEN.items():
        if when != "the local mode is not running":
            commands.setdefault(when, []).append(f"`{command}`")
    rows = ((", ".join(found), when) for when, found in commands.items())
    return "".join(
        (
            "\n## Exit codes\n\n",
            table(("code", "meaning"), codes),
            _FAILS_WHEN,
            table(("command", "exits with 1 when"), rows),
        )
    )


def _summary(listed: ListedCommand) -> str:
    text = inspect.getdoc(listed.function) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def _answers() -> list[type[BaseModel]]:
    found: dict[type[BaseModel], None] = dict.fromkeys([Failed, Changed])
    found.update(dict.fromkeys(each for each in ANSWERS.values() if each))
    return list(found)
