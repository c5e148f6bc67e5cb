"""The verbs: what each takes, parsed, and said in `--help`; the modules of `cli` do the work."""

from stackroom_local.cli.verbs import documents, figures, local_mode, questions, stores

EXIT_CODES = {
    0: "what was asked is done, or was answered",
    1: "it failed, or a part of it did: the last line on standard error says what",
    2: "the command line itself is wrong; nothing was done",
    130: "Ctrl-C ended it, as it always ends `status --watch`",
}
# Of each verb, what 1 means beside "nothing is up" and a service that does not answer.
FAILS_WHEN = {
    "up": "the directory or a port is taken, or a server ends",
    "down": "nothing is up, or it is still stopping after 40 s",
    "env": "nothing is up",
    "doctor": "a check is bad",
    "drop": "a path does not exist, a file was not taken, or with `--wait` one failed",
    "status": "nothing is up any more",
    "delete": "there is no such document or catalog, or nothing was named",
    "receipts": "there is no such receipt",
    "retry": "nothing is tried again, or one that was named is not",
    "reconcile": "something could not be mended",
    "dashboard": "no dashboard is deployed",
    "ask": "the tool answers with an error; finding nothing is an answer",
    "retrieve": "the tool answers with an error, which is printed all the same",
    "token": "the user id is none",
    "whoami": "the token is not valid here",
    "load": "there is no such folder, a file was not loaded, or the tables are not as asked for",
    "demo": "something is not as it should be",
}

VERBS = (  # in the order that `stackroom --help` lists them
    local_mode.up,
    local_mode.down,
    local_mode.env,
    local_mode.doctor,
    documents.drop,
    documents.status,
    documents.delete,
    documents.receipts,
    documents.retry,
    documents.reconcile,
    figures.dashboard,
    questions.ask,
    questions.retrieve,
    questions.token,
    questions.whoami,
    stores.load,
    local_mode.demo,
)
