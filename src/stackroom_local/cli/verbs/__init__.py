"""The verbs: what each takes, parsed, and said in `--help`; the modules of `cli` do the work."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from stackroom_local.cli.verbs import (
    deployments,
    documents,
    figures,
    local_mode,
    questions,
    sign_ins,
    stores,
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
    "login": "nobody signed in",
    "logout": "the issuer did not answer; the tokens are forgotten all the same",
    "token": "the user id is none",
    "whoami": "the token is not valid here",
    "load": "there is no such folder, a file was not loaded, or the tables are not as asked for",
    "demo": "something is not as it should be",
    "deployments add": "the outputs are of another version, or the file can't be written",
    "deployments list": "the file can't be read",
    "deployments remove": "there is none of that name, or the file can't be written",
}


class Need(StrEnum):
    """What a verb needs on a deployment; in the local mode it is a directory that one can read."""

    LOCAL = "Of the local mode alone."
    APART = "Works on a database, and on no deployment."
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
class Listed:
    verb: Callable[..., None]
    need: Need


# By what is typed, in the order that `stackroom --help` lists them.
VERBS = {
    "up": Listed(local_mode.up, Need.LOCAL),
    "down": Listed(local_mode.down, Need.LOCAL),
    "env": Listed(local_mode.env, Need.LOCAL),
    "doctor": Listed(local_mode.doctor, Need.OPERATOR),
    "drop": Listed(documents.drop, Need.EITHER),
    "status": Listed(documents.status, Need.EITHER_OR_ALL),
    "delete": Listed(documents.delete, Need.EITHER),
    "catalogs": Listed(documents.catalogs, Need.EITHER_OR_ALL),
    "receipts": Listed(documents.receipts, Need.OPERATOR),
    "retry": Listed(documents.retry, Need.OPERATOR),
    "reconcile": Listed(documents.reconcile, Need.OPERATOR),
    "dashboard": Listed(figures.dashboard, Need.OPERATOR),
    "ask": Listed(questions.ask, Need.SIGN_IN),
    "retrieve": Listed(questions.retrieve, Need.SIGN_IN),
    "login": Listed(sign_ins.login, Need.NOTHING),
    "logout": Listed(sign_ins.logout, Need.NOTHING),
    "token": Listed(sign_ins.token, Need.SIGN_IN),
    "whoami": Listed(sign_ins.whoami, Need.SIGN_IN_OR_GIVEN),
    "load": Listed(stores.load, Need.APART),
    "demo": Listed(local_mode.demo, Need.LOCAL),
    "deployments add": Listed(deployments.add, Need.OUTPUTS),
    "deployments list": Listed(deployments.show, Need.NOTHING),
    "deployments remove": Listed(deployments.remove, Need.NOTHING),
}
