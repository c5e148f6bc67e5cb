"""The verbs: what each takes, parsed, and said in `--help`; the modules of `cli` do the work."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from stackroom_local.cli.commands import (
    cap_commands,
    deployment_commands,
    document_commands,
    evaluation_command,
    local_mode_commands,
    webhook_commands,
)

EXIT_CODES = {
    0: "what was asked is done, or was answered",
    1: "it failed, or a part of it did: the last line on standard error says what",
    2: "the command line itself is wrong; nothing was done",
    130: "Ctrl-C ended it, as it always ends `status --watch`",
}
# Of each verb, what 1 means beside "nothing is up", an unknown deployment, a missing sign-in or
# right, and a service that does not answer.
FAILS_WHEN = {
    "up": "the directory or a port is taken, or a server ends",
    "down": "nothing is up, or it is still stopping after 40 s",
    "env": "nothing is up",
    "doctor": "a check is bad; with `--smoke`, a step failed or an assumption is refuted",
    "drop": "a path does not exist, a file was not taken, or with `--wait` one failed",
    "status": "nothing is up any more",
    "delete": "there is no such document or catalog, or nothing was named",
    "catalogs": "nothing is up any more",
    "receipts": "there is no such receipt",
    "retry": "nothing is tried again, or one that was named is not",
    "reconcile": "something could not be mended",
    "dashboard": "no dashboard is deployed",
    "ask": "the tool answers with an error; finding nothing is an answer",
    "retrieve": "the tool answers with an error, which is printed all the same",
    "evaluate": "a line of the file is wrong, a question was not answered, or a gate is missed",
    "events": "the tool answers with an error",
    "login": "nobody signed in",
    "logout": "the issuer did not answer; the tokens are forgotten all the same",
    "token": "the user id is none",
    "whoami": "the token is not valid here",
    "passages": "the file can't be read, has no text, or is not in the catalog",
    "load": "there is no such folder, a file was not loaded, or the tables are not as asked for",
    "demo": "something is not as it should be",
    "usage": "the user id is none",
    "caps set": "the user id is none",
    "caps list": "nothing is up any more",
    "caps remove": "there are none of that user's, or of everybody",
    "deployments add": "the outputs are of another version, or the file can't be written",
    "deployments list": "the file can't be read",
    "deployments remove": "there is none of that name, or the file can't be written",
    "webhooks add": "the address is refused, or its owner has ten webhooks",
    "webhooks list": "nothing is up",
    "webhooks remove": "there is none of that id",
    "webhooks secret": "there is none of that id",
    "webhooks redeliver": "nothing is up",
}


class Need(StrEnum):
    """What a verb needs on a deployment; in the local mode it is a directory that one can read."""

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
    "status": ListedCommand(document_commands.status, Need.EITHER_OR_ALL),
    "delete": ListedCommand(document_commands.delete, Need.EITHER),
    "catalogs": ListedCommand(document_commands.catalogs, Need.EITHER_OR_ALL),
    "receipts": ListedCommand(document_commands.receipts, Need.OPERATOR),
    "retry": ListedCommand(document_commands.retry, Need.OPERATOR),
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
