"""That agents do all that they do with exactly their rights; and that it would be seen if not."""

import pytest

from tests.permissions.agent_stack import CLERK, LIBRARIAN, MECHANIC
from tests.permissions.agents import ANSWER, Outcome, run
from tests.permissions.needs import Need
from tests.permissions.report import DOCUMENT, documented_of_agents
from tests.permissions.roles import Grant

pytestmark = pytest.mark.processes

_HERE = "{region}:{account}"
GENERATION = Grant(CLERK, "bedrock:RetrieveAndGenerate", "*")


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run(lambda _: None)


def test_they_answer_by_their_knowledge_bases_and_tools(outcome: Outcome) -> None:
    text, file, batch = outcome.answers[CLERK]
    [sent] = outcome.sent

    told = f"{ANSWER} 1.08 it is."
    assert [text, file] == [{"success": True, "result": told}] * 2
    assert (batch, sent["result"]) == ({"batchItemFailures": []}, told)
    assert outcome.answers[LIBRARIAN] == [{"success": True, "result": ANSWER}]
    assert outcome.answers[MECHANIC] == [{"success": True, "result": ANSWER}]


def test_no_call_is_denied(outcome: Outcome) -> None:
    assert [str(each) for each in outcome.comparison.denied] == []


def test_no_right_is_unused_but_the_one_that_is_granted_on_purpose(outcome: Outcome) -> None:
    assert outcome.comparison.unused == [GENERATION]
    assert (outcome.unused, outcome.on_purpose) == ([], [GENERATION])


def test_each_searches_its_own_knowledge_bases_and_no_others(outcome: Outcome) -> None:
    searched = {each for each in outcome.comparison.uses if each.action == "bedrock:Retrieve"}

    arn = f"arn:aws:bedrock:{_HERE}:knowledge-base"
    assert searched == {
        Grant(agent, "bedrock:Retrieve", f"{arn}/{name}")
        for agent in (CLERK, LIBRARIAN)
        for name in ("MANUALS001", "LETTERS001")
    }


def test_a_store_is_searched_by_its_own_rights_and_without_retrieve(outcome: Outcome) -> None:
    searched = {
        (each.action, each.resource)
        for each in outcome.comparison.uses
        if each.function == MECHANIC and not each.action.startswith("s3:")
    }

    index = f"arn:aws:s3vectors:{_HERE}:bucket/parts/index/chunks"
    model = "arn:aws:bedrock:{region}::foundation-model/amazon."
    assert searched == {
        *((f"s3vectors:{each}", index) for each in ("QueryVectors", "GetVectors", "GetIndex")),
        ("bedrock:InvokeModel", f"{model}titan-embed-text-v2:0"),
        ("bedrock:InvokeModel", f"{model}rerank-v1:0"),
        ("bedrock:InvokeModel", f"{model}nova-micro-v1:0"),
        ("bedrock:Rerank", "*"),
        ("bedrock:ApplyGuardrail", f"arn:aws:bedrock:{_HERE}:guardrail/guardrail1"),
    }


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("s3vectors:QueryVectors", f"arn:aws:s3vectors:{_HERE}:bucket/parts/index/other"),
        ("s3vectors:PutVectors", f"arn:aws:s3vectors:{_HERE}:bucket/parts/index/chunks"),
        ("s3vectors:ListVectors", f"arn:aws:s3vectors:{_HERE}:bucket/parts/index/chunks"),
        ("bedrock:InvokeModel", "arn:aws:bedrock:{region}::foundation-model/amazon.nova-pro-v1:0"),
        ("bedrock:Retrieve", f"arn:aws:bedrock:{_HERE}:knowledge-base/MANUALS001"),
        ("bedrock:RetrieveAndGenerate", "*"),
    ],
)
def test_the_mechanic_may_do_nothing_beside(outcome: Outcome, action: str, resource: str) -> None:
    need = Need(function=MECHANIC, action=action, resource=resource)

    assert not outcome.comparison.roles[MECHANIC].allows(need)


def test_what_lambda_uses_itself_is_its_log_its_traces_its_queue_and_its_key(
    outcome: Outcome,
) -> None:
    of_all = {"kms:Decrypt", "logs:CreateLogStream", "logs:PutLogEvents"}
    of_all |= {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
    polling = {"ReceiveMessage", "DeleteMessage", "GetQueueAttributes"}
    polling |= {"ChangeMessageVisibility", "GetQueueUrl"}  # the CDK's grant has them, too

    by_agent = {name: role.used_by_lambda for name, role in outcome.comparison.roles.items()}

    assert {each.action for each in by_agent[LIBRARIAN]} == of_all
    assert {each.action for each in by_agent[CLERK]} == of_all | {f"sqs:{each}" for each in polling}
    queues = {each.resource for each in by_agent[CLERK] if each.action.startswith("sqs:")}
    assert queues == {f"arn:aws:sqs:{_HERE}:questions"}


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("bedrock:Retrieve", f"arn:aws:bedrock:{_HERE}:knowledge-base/OTHERS0001"),
        ("bedrock:ApplyGuardrail", f"arn:aws:bedrock:{_HERE}:guardrail/another"),
        ("bedrock:InvokeModel", "arn:aws:bedrock:{region}::foundation-model/amazon.nova-pro-v1:0"),
        ("bedrock:InvokeModelWithResponseStream", f"arn:aws:bedrock:{_HERE}:inference-profile/x"),
        ("bedrock:RetrieveAndGenerate", "*"),
        ("s3:GetObject", "arn:aws:s3:::intake/rates.json"),
        ("s3:ListBucket", "arn:aws:s3:::cdk-hnb659fds-assets-{account}-{region}"),
        ("sqs:SendMessage", f"arn:aws:sqs:{_HERE}:answers"),
        ("dynamodb:GetItem", f"arn:aws:dynamodb:{_HERE}:table/stackroom-kb-catalog"),
    ],
)
def test_the_librarian_may_do_nothing_beside(outcome: Outcome, action: str, resource: str) -> None:
    need = Need(function=LIBRARIAN, action=action, resource=resource)

    assert not outcome.comparison.roles[LIBRARIAN].allows(need)


def test_the_page_lists_these_rights(outcome: Outcome) -> None:
    granted = {each for role in outcome.comparison.roles.values() for each in role.grants}

    assert documented_of_agents(DOCUMENT.read_text("utf-8")) == granted, "run: make permissions"
