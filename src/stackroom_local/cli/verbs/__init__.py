"""The verbs: what each takes, parsed, and said in `--help`; the modules of `cli` do the work."""

from stackroom_local.cli.verbs import documents, local_mode, questions

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
    questions.ask,
    questions.retrieve,
    questions.token,
    questions.whoami,
    local_mode.demo,
)
