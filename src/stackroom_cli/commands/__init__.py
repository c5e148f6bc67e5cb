"""The verbs: their arguments and `--help`. The other modules of `stackroom_cli` do the work."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from stackroom_cli.commands import (
    cap_commands,
    deployment_commands,
    document_commands,
    evaluation_command,
    local_mode_commands,
    webhook_commands,
)

EXIT_CODES = {
    0: "success",
    1: "failure, whole or in part; the last line on standard error says what failed",
    2: "wrong usage; nothing was done",
    130: "ended by Ctrl-C, as `status --watch` always is",
}
# When a verb exits with 1, apart from what can happen to any: nothing is up, the deployment is
# unknown, a sign-in or right is missing, or a service does not answer.
FAILS_WHEN = {
    "up": "the directory or a port is taken, or a server ends",
    "down": "nothing is up, or it is still stopping after 40 s",
    "env": "nothing is up",
    "doctor": "a check fails; with `--smoke`, a step failed or an assumption is refuted",
    "drop": "a path does not exist, a file was not taken, or with `--wait` one failed",
    "adopt": "there is no such source, or with `--apply` a file was refused",
    "status": "nothing is up",
    "delete": "there is no such document or catalog, or nothing was named",
    "catalogs": "nothing is up",
    "receipts": "there is no such receipt",
    "retry": "nothing was retried, or a document that was named was not",
    "reread": "nothing was read again, or a named document was not",
    "reconcile": "something could not be repaired",
    "dashboard": "no dashboard is deployed",
    "ask": "the tool answers with an error; finding nothing is an answer",
    "retrieve": "the tool answers with an error, which is printed all the same",
    "evaluate": "a line of the file is wrong, a question was not answered, or a gate is missed",
    "events": "the tool answers with an error",
    "login": "nobody signed in",
    "logout": "the issuer did not answer; the tokens are deleted all the same",
    "token": "the user id is invalid",
    "whoami": "the token is not valid here",
    "passages": "the file can't be read, has no text, or is not in the catalog",
    "load": "there is no such folder, a file was not loaded, or the tables don't match",
    "demo": "a step does not give what it should",
    "usage": "the user id is invalid",
    "caps set": "the user id is invalid",
    "caps list": "nothing is up",
    "caps remove": "the user, or everybody, has no caps",
    "deployments add": "the outputs are of another version, or the file can't be written",
    "deployments list": "the file can't be read",
    "deployments remove": "there is no such deployment, or the file can't be written",
    "webhooks add": "the address is refused, or its owner has ten webhooks",
    "webhooks list": "nothing is up",
    "webhooks remove": "there is no such webhook",
    "webhooks secret": "there is no such webhook",
    "webhooks redeliver": "nothing is up",
}


class Need(StrEnum):
    """
    The rights that a verb needs on a deployment. In the local mode, a readable directory is enough.
    """

    LOCAL = "Of the local mode alone."
    APART = "Works on a database, and on no deployment."
    SIGN_IN_FOR_CATALOG = (
        "Needs, on a deployment: with --catalog sign-in (stackroom login), without it nothing."
    )
    NOTHING = "Needs neither sign-in nor AWS credentials."
    SIGN_IN = "Needs, on a deployment: sign-in (stackroom login)."
    OPERATOR = "Needs, on a deployment: an operator's AWS credentials."
    OUTPUTS = (
        "Needs neither sign-in nor AWS credentials; with --project, an operator's AWS credentials."
    )
    SIGN_IN_OR_GIVEN = "Needs, on a deployment: sign-in (stackroom login), or --token."
    EITHER = (
        "Needs, on a deployment: sign-in (stackroom login); with --user an operator's AWS"
        " credentials instead."
    )
    EITHER_OR_ALL = (
        "Needs, on a deployment: sign-in (stackroom login); with --user, or --everybody, an "
        "operator's AWS credentials instead."
    )


@dataclass(frozen=True)
class ListedCommand:
    verb: Callable[..., None]
    need: Need


# By what is typed, in the order that `stackroom --help` lists them.
VERBS = {
    "up": ListedCommand(local_mode_commands.up, Need.LOCAL),
    "down": ListedCommand(local_mode_commands.down, Need.LOCAL),
    "env": ListedCommand(local_mode_commands.env, Need.LOCAL),
    "doctor": ListedCommand(local_mode_commands.doctor, Need.OPERATOR),
    "drop": ListedCommand(document_commands.drop, Need.EITHER),
    "adopt": ListedCommand(document_commands.adopt, Need.OPERATOR),
    "status": ListedCommand(document_commands.status, Need.EITHER_OR_ALL),
    "delete": ListedCommand(document_commands.delete, Need.EITHER),
    "catalogs": ListedCommand(document_commands.catalogs, Need.EITHER_OR_ALL),
    "receipts": ListedCommand(document_commands.receipts, Need.OPERATOR),
    "retry": ListedCommand(document_commands.retry, Need.OPERATOR),
    "reread": ListedCommand(document_commands.reread, Need.OPERATOR),
    "reconcile": ListedCommand(document_commands.reconcile, Need.OPERATOR),
    "dashboard": ListedCommand(document_commands.dashboard, Need.OPERATOR),
    "ask": ListedCommand(document_commands.ask, Need.SIGN_IN),
    "retrieve": ListedCommand(document_commands.retrieve, Need.SIGN_IN),
    "evaluate": ListedCommand(evaluation_command.evaluate, Need.SIGN_IN),
    "events": ListedCommand(document_commands.events, Need.SIGN_IN),
    "login": ListedCommand(deployment_commands.login, Need.NOTHING),
    "logout": ListedCommand(deployment_commands.logout, Need.NOTHING),
    "token": ListedCommand(deployment_commands.token, Need.SIGN_IN),
    "whoami": ListedCommand(deployment_commands.whoami, Need.SIGN_IN_OR_GIVEN),
    "passages": ListedCommand(document_commands.passages, Need.SIGN_IN_FOR_CATALOG),
    "load": ListedCommand(document_commands.load, Need.APART),
    "demo": ListedCommand(local_mode_commands.demo, Need.LOCAL),
    "usage": ListedCommand(cap_commands.usage, Need.EITHER_OR_ALL),
    "caps set": ListedCommand(cap_commands.set_caps, Need.OPERATOR),
    "caps list": ListedCommand(cap_commands.show, Need.OPERATOR),
    "caps remove": ListedCommand(cap_commands.remove, Need.OPERATOR),
    "deployments add": ListedCommand(deployment_commands.add, Need.OUTPUTS),
    "deployments list": ListedCommand(deployment_commands.show, Need.NOTHING),
    "deployments remove": ListedCommand(deployment_commands.remove, Need.NOTHING),
    "webhooks add": ListedCommand(webhook_commands.add, Need.OPERATOR),
    "webhooks list": ListedCommand(webhook_commands.show, Need.OPERATOR),
    "webhooks remove": ListedCommand(webhook_commands.remove, Need.OPERATOR),
    "webhooks secret": ListedCommand(webhook_commands.secret, Need.OPERATOR),
    "webhooks redeliver": ListedCommand(webhook_commands.redeliver, Need.OPERATOR),
}
