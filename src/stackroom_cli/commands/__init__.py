"""The commands: their arguments and `--help`. The other modules of `stackroom_cli` do the work."""

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
    1: "failure, in whole or in part; the last line on standard error says what failed",
    2: "wrong usage; nothing was done",
    130: "ended by Ctrl-C, as `status --watch` always is",
}
# When a command exits with 1, apart from reasons that any command may have: the local mode is not
# running, the deployment is unknown, a sign-in or right is missing, or a service does not answer.
FAILS_WHEN = {
    "up": "the directory or a port is in use, or a server ends",
    "down": "it is not running, or still stopping after 40 s",
    "env": "the local mode is not running",
    "doctor": "a check fails; with `--smoke`, a step failed or an assumption is refuted",
    "drop": "a path does not exist, a file was not uploaded, or with `--wait` one failed",
    "adopt": "the source does not exist, or with `--apply` a file was refused",
    "status": "the local mode is not running",
    "delete": "a document or catalog does not exist, or none was named",
    "catalogs": "the local mode is not running",
    "receipts": "the receipt does not exist",
    "retry": "nothing was retried, or a named document was not",
    "reread": "nothing was reread, or a named document was not",
    "reconcile": "something could not be repaired",
    "dashboard": "no dashboard is deployed",
    "ask": "the tool answers with an error; finding nothing is an answer",
    "retrieve": "the tool answers with an error, which is printed all the same",
    "evaluate": "a line of the file is invalid, a question was not answered, or a gate is missed",
    "events": "the tool answers with an error",
    "login": "nobody signed in",
    "logout": "the issuer did not answer; the tokens are deleted all the same",
    "token": "the user id is invalid",
    "whoami": "the token is not valid here",
    "passages": "the file can't be read, has no text, or is not in the catalog",
    "load": "the folder does not exist, a file was not loaded, or the tables don't match",
    "demo": "a step does not give the expected result",
    "usage": "the user id is invalid",
    "caps set": "the user id is invalid",
    "caps list": "the local mode is not running",
    "caps remove": "the user, or everybody, has no caps",
    "deployments add": "the outputs are of another version, or the file can't be written",
    "deployments list": "the file can't be read",
    "deployments remove": "the deployment is unknown, or the file can't be written",
    "webhooks add": "the address is refused, or its owner has ten webhooks",
    "webhooks list": "the local mode is not running",
    "webhooks remove": "there is no such webhook",
    "webhooks secret": "there is no such webhook",
    "webhooks redeliver": "the local mode is not running",
}


class Need(StrEnum):
    """
    The rights that a command needs on a deployment. In the local mode, a readable directory
    suffices.
    """

    LOCAL = "Works in the local mode only."
    APART = "Works on a database, not on a deployment."
    SIGN_IN_FOR_CATALOG = (
        "On a deployment, needs a sign-in (stackroom login) with --catalog, and nothing without."
    )
    NOTHING = "Needs neither a sign-in nor AWS credentials."
    SIGN_IN = "On a deployment, needs a sign-in (stackroom login)."
    OPERATOR = "On a deployment, needs an operator's AWS credentials."
    OUTPUTS = "Needs an operator's AWS credentials with --project, and nothing with --outputs."
    SIGN_IN_OR_GIVEN = "On a deployment, needs a sign-in (stackroom login), or --token."
    EITHER = (
        "On a deployment, needs a sign-in (stackroom login), or with --user an operator's AWS"
        " credentials."
    )
    EITHER_OR_ALL = (
        "On a deployment, needs a sign-in (stackroom login), or with --user or --everybody an"
        " operator's AWS credentials."
    )


@dataclass(frozen=True)
class ListedCommand:
    function: Callable[..., None]
    need: Need


# By what is typed, in the order that `stackroom --help` lists them.
COMMANDS = {
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
