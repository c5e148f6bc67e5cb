"""The state machine that processes one worklist, as a chain of states."""

from statemachines.states import (
    INGEST,
    STATUS_POLLER,
    State,
    choice,
    recording_task,
    task,
    wait,
    waiting_task,
)

STATES: dict[str, State] = {
    "EnsureDataSource": task(
        INGEST,
        "ensure",
        "Creates the catalog's data source with its first document and reuses it ever after; takes"
        " it down with a catalog that is to go. Safe to retry: it is found by name.",
        then="IsDataSourceReady",
    ),
    "IsDataSourceReady": choice(
        "waiting: it is being created or deleted, Bedrock is busy, or a run that broke is followed"
        " after a while. nothing: nothing is open, or the catalog is to share a data source.",
        ready="StartIngestion",
        waiting="WaitForDataSource",
        nothing="ReleaseRun",
        hand_over="HandOverRun",
    ),
    "WaitForDataSource": wait(
        "Before the data source is looked at again, or a broken run is followed.",
        then="EnsureDataSource",
    ),
    "AdmitIngestion": waiting_task(
        INGEST,
        "admit",
        "Waits to be admitted to the knowledge base, however long, in this one state: whoever"
        " grants it sends the token back. Safe to retry: the position in the queue is kept and the"
        " token replaced. The timeout only makes it queue up anew.",
        then="StartIngestion",
    ),
    "StartIngestion": task(
        INGEST,
        "start",
        "Begins an ingestion job, or sends as many direct calls as are granted. Safe to retry:"
        " client tokens name the round, so a second call gets the first one's effect.",
        then="IsIngestionStarted",
    ),
    "IsIngestionStarted": choice(
        "queued: others are before it at the knowledge base. busy: back-pressure of Bedrock's,"
        " waited out for as long as it takes. more: the data source is to be looked at again.",
        started="WaitForIngestion",
        queued="AdmitIngestion",
        busy="WaitForKnowledgeBase",
        more="EnsureDataSource",
        nothing="ReleaseRun",
        hand_over="HandOverRun",
    ),
    "WaitForKnowledgeBase": wait(
        "The knowledge base is busy: longer each time, up to a limit, with jitter.",
        then="StartIngestion",
    ),
    "WaitForIngestion": wait(
        "Bedrock sends no event when it is done, so we poll: later each time, up to a limit.",
        then="PollIngestion",
    ),
    "PollIngestion": task(
        STATUS_POLLER,
        "poll",
        "Looks once at the job or the direct calls, writes down what became of each document that"
        " is decided, and gives back what the run needs no more. Safe to retry: what is settled is"
        " no longer of the run.",
        then="IsIngestionOver",
    ),
    "IsIngestionOver": choice(
        "more: a call is free, and something waits for it. settled: nothing is at work any more.",
        running="WaitForIngestion",
        more="StartIngestion",
        settled="ReleaseRun",
    ),
    "ReleaseRun": task(
        INGEST,
        "release",
        "Looks once more whether anything is open, and gives the lease back unless more was asked"
        " for meanwhile.",
        then="IsWorklistSettled",
    ),
    "IsWorklistSettled": choice(
        "more: another round.", released="WorklistSettled", more="EnsureDataSource"
    ),
    "HandOverRun": task(
        INGEST,
        "hand_over",
        "An execution's history ends at 25,000 events, so a fresh execution goes on.",
        then="IsRunHandedOver",
    ),
    "IsRunHandedOver": choice("One outcome; any other is a failure.", handed_over="RunHandedOver"),
    "WorklistSettled": {"Type": "Succeed"},
    "RunHandedOver": {"Type": "Succeed"},
    "UnknownOutcome": {
        "Type": "Pass",
        "Comment": "A task answered what no Choice names: a mistake of ours.",
        "Result": {
            "Error": "UnknownOutcome",
            "Cause": "a task answered an outcome that the state machine does not know",
        },
        "ResultPath": "$.error",
        "Next": "RecordFailure",
    },
    "RecordFailure": recording_task(
        INGEST,
        "record_failure",
        "Follows this run by another, later each time; in the end fails its documents. Safe to"
        " retry: the epoch moves once.",
        then="RunBroke",
    ),
    "RunBroke": {
        "Type": "Fail",
        "Error": "RunBroke",
        "Cause": "A task failed for good; the log of the ingest function has the error, and a"
        " successor runs. EventBridge repeats this message should it not.",
    },
    "RunSuperseded": {
        "Type": "Fail",
        "Error": "RunSuperseded",
        "Cause": "Another execution holds this worklist's lease; nothing is lost.",
    },
}

INGEST_CATALOG: State = {
    "Comment": "Make the documents of one data source searchable, and forget what was removed: of"
    " a catalog that has one of its own, or of all catalogs on a shared one. Input:"
    " {worklist_id, epoch, progress}, made by the runs package; every task takes and answers just"
    " that. Ends in WorklistSettled or RunHandedOver, or fails as RunBroke (after RecordFailure"
    " has seen to a successor) or RunSuperseded.",
    "StartAt": "EnsureDataSource",
    "TimeoutSeconds": 15_552_000,  # 180 days
    "States": STATES,
}
