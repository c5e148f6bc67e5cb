"""The state machine that works off one worklist: which state follows on which."""

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
    "BeginRun": task(
        INGEST,
        "begin",
        "At a shared data source: is admitted if that can be at once, and ingests directly until"
        " nothing is open, for as long as a function may. A catalog with a data source of its own:"
        " ensures that data source. Safe to retry: calls name their round, the slot is held under"
        " the catalog's id, the data source found by name.",
        then="IsRunUnderWay",
    ),
    "IsRunUnderWay": choice(
        "released: nothing is open any more; more: time was up, or more was asked for; waiting: the"
        " data source is being created or deleted, Bedrock is busy, or a run that broke is followed"
        " after a while.",
        released="WorklistSettled",
        more="BeginRun",
        placed="AdmitIngestion",
        waiting="WaitToBegin",
        busy="WaitToBegin",
        nothing="ReleaseRun",
        gone="ReleaseRun",
        hand_over="HandOverRun",
    ),
    "WaitToBegin": wait(
        "Before the data source is looked at again, or a broken run is followed.",
        then="BeginRun",
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
        "One job, or direct calls as BeginRun. Safe to retry: client tokens name the round, so a"
        " second call gets the first one's effect.",
        then="IsIngestionStarted",
    ),
    "IsIngestionStarted": choice(
        "busy is back-pressure, waited out for as long as it takes; placed and turn_over: the"
        " admission is given back for others to come first, and this run queues up again.",
        released="WorklistSettled",
        more="BeginRun",
        placed="AdmitIngestion",
        started="WaitForIngestion",
        busy="WaitForKnowledgeBase",
        turn_over="AdmitIngestion",
        nothing="ReleaseRun",
        hand_over="HandOverRun",
    ),
    "WaitForKnowledgeBase": wait(
        "The knowledge base is busy: longer each time, up to a limit, with jitter.",
        then="StartIngestion",
    ),
    "WaitForIngestion": wait(
        "Bedrock sends no event when a job ends, so we poll: later each time, up to a limit.",
        then="PollIngestion",
    ),
    "PollIngestion": task(
        STATUS_POLLER,
        "poll",
        "Is the job over, or are the direct calls? Gives the admission back; stops a job that is"
        " past its deadline.",
        then="IsIngestionOver",
    ),
    "IsIngestionOver": choice(
        "Only running goes round again, so an unknown outcome can't loop.",
        running="WaitForIngestion",
        over="SettleDocuments",
    ),
    "SettleDocuments": task(
        STATUS_POLLER,
        "settle",
        "Writes down what became of each document of the round. Safe to retry: a settled one is no"
        " longer part of the round.",
        then="AreDocumentsSettled",
    ),
    "AreDocumentsSettled": choice(
        "unsettled: Bedrock has not decided on some document yet.",
        settled="ReleaseRun",
        unsettled="WaitForIngestion",
    ),
    "ReleaseRun": task(
        INGEST,
        "release",
        "Gives the lease back unless more was asked for since the round began.",
        then="IsWorklistSettled",
    ),
    "IsWorklistSettled": choice(
        "more: another round.", released="WorklistSettled", more="BeginRun"
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
    "Comment": "Make the documents of one worklist searchable, and forget what was removed: of a"
    " catalog with a data source of its own, or of all catalogs on a shared one. Input:"
    " {worklist_id, epoch, progress}, made by the runs package; every task takes and answers just"
    " that. Ends in WorklistSettled or RunHandedOver, or fails as RunBroke (after RecordFailure"
    " has seen to a successor) or RunSuperseded.",
    "StartAt": "BeginRun",
    "TimeoutSeconds": 15_552_000,  # 180 days
    "States": STATES,
}
