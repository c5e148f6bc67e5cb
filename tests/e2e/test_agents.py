"""
Agents of a third party on the local cloud: deployed by `cdk deploy`, they answer from documents
that were dropped into S3. What the model says is scripted; what it quotes, it was told.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.state import Instance
from tests.e2e.island import REPEATS, Island, cdk, searches
from tests.e2e.people import eventually
from tests.e2e.traffic import Queue
from tests.local.running import local_mode

EXAMPLES = Path(__file__).parents[2] / "examples" / "constructs"
FERRY = "The ferry to Gull Rock leaves every 40 minutes."
HERON = "Herons breed in the alder wood behind the mill."
# Its message waits an hour before it comes again, or is dead: as long as the queue says.
ONE_IS_HANDLED = {
    "ApproximateNumberOfMessages": "0",
    "ApproximateNumberOfMessagesNotVisible": "1",
}
NOTHING = "No relevant information found for your query."


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A local mode of its own: the stacks of others would be counted in the one that all share."""
    with local_mode(tmp_path_factory.mktemp("island") / "state") as running:
        yield running


@pytest.fixture(scope="module")
def island(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> Island:
    made = Island.deployed(instance, tmp_path_factory.mktemp("island-app"))
    made.drop("tides/ferry.md", f"# Ferry\n\n{FERRY}")
    made.drop("birds/heron.md", f"# Herons\n\n{HERON}")
    made.drop(
        "rules/keys.md", "The key to the boathouse hangs in the pantry.", allowed_groups=["a"]
    )
    made.drop("rules/safe.md", "The safe stands behind the stuffed owl.", allowed_groups=["f", "x"])
    made.drop("rules/open.md", "The kitchen closes at nine.")
    for name in ("Tides", "Birds", "Rules"):
        made.ingest(name)
    return made


def test_what_lies_below_the_prefix_is_found_after_an_ingestion_job(island: Island) -> None:
    before = island.found("Tides", "When is the regatta?")
    island.drop("tides/regatta.md", "The regatta of the island is on the first of May.")
    island.drop("elsewhere/regatta.md", "The regatta of the mainland is in June.")

    statistics = island.ingest("Tides")

    after = island.found("Tides", "When is the regatta?")
    assert statistics["numberOfNewDocumentsIndexed"] == 1
    assert not [text for text in before if "regatta" in text]
    assert [text for text in after if "regatta" in text] == [
        "The regatta of the island is on the first of May."
    ]


def test_another_stack_knows_a_knowledge_base_by_the_arn_in_a_parameter(island: Island) -> None:
    arn = island.client("ssm").get_parameter(Name="/library/tides/arn")["Parameter"]["Value"]
    configured = json.loads(island.environment("both")["KNOWLEDGE_BASES_CONFIG"])

    made = island.client("bedrock-agent").get_knowledge_base(
        knowledgeBaseId=island.outputs["Library"]["TidesId"]
    )["knowledgeBase"]

    assert made["knowledgeBaseArn"] == arn
    assert [each["knowledgeBaseId"] for each in configured] == [
        made["knowledgeBaseId"],
        island.outputs["Library"]["BirdsId"],
    ]


def test_an_answer_from_two_knowledge_bases_cites_both_documents(island: Island) -> None:
    question = "When does the ferry leave, and where do herons breed?"
    island.say(
        question,
        searches("ferry; where herons breed"),
        {
            "text": "{{ferry}} [{{timetable}}] {{heron}} [{{guide}}]",
            "quotes": {
                "ferry": r"(The ferry to [^\n]*)",
                "timetable": r"(s3://\S+/ferry\.md)",
                "heron": r"(Herons breed [^\n]*)",
                "guide": r"(s3://\S+/heron\.md)",
            },
        },
    )

    told = island.ask("both", question)

    bucket = island.outputs["Library"]["Bucket"]
    assert told == {
        "success": True,
        "result": (
            f"{FERRY} [s3://{bucket}/tides/ferry.md] {HERON} [s3://{bucket}/birds/heron.md]"
        ),
    }


def test_without_a_script_the_stand_in_for_a_model_searches_and_cites(island: Island) -> None:
    told = island.ask("both", "Where do herons breed?")

    assert HERON in told["result"]
    assert "birds/heron.md" in told["result"]


@pytest.mark.parametrize(
    ("groups", "seen"),
    [
        (["a"], {"boathouse"}),
        (["f"], {"safe"}),
        (["a", "x"], {"boathouse", "safe"}),
        (["b"], set()),
        ([], set()),
        # More than one filter takes: several queries, and none of the groups is left out.
        (["b", "c", "d", "e", "g", "f"], {"safe"}),
        (["f", "b", "c", "d", "e", "a"], {"boathouse", "safe"}),
    ],
)
def test_a_group_sees_its_own_documents_and_none_that_names_no_group(
    island: Island, groups: list[str], seen: set[str]
) -> None:
    question = f"What am I told, as one of {' and '.join(groups) or 'nobody'}?"
    island.say(question, searches("key, safe, kitchen"), REPEATS)

    told = island.ask("staff", question, identity={"user_id": "robin", "groups": groups})

    found = {word for word in ("boathouse", "safe", "kitchen") if word in told["result"]}
    assert told["success"]
    assert found == seen
    assert (told["result"] == NOTHING) is not bool(seen)


def test_without_an_identity_nothing_is_searched(island: Island) -> None:
    told = island.ask("staff", "What am I told?")

    assert (told["success"], told["errorType"]) == (False, "MissingIdentity")


def test_an_agent_that_takes_no_identity_from_events_refuses_one(island: Island) -> None:
    told = island.ask("both", "What am I told?", identity={"user_id": "robin", "groups": ["a"]})

    assert (told["success"], told["errorType"]) == (False, "MalformedEvent")


def test_a_guardrail_that_steps_in_is_told(island: Island) -> None:
    question = "Where is the poacher?"
    island.say(question, searches("Where does the poacher look for herons?"), REPEATS)

    told = island.ask("careful", question)

    assert told["success"]
    assert "A guardrail stepped in" in told["result"]
    assert HERON not in told["result"]


def test_what_the_guardrail_has_nothing_against_is_found(island: Island) -> None:
    question = "What does the guardrail say of herons?"
    island.say(question, searches("Where do herons breed?"), REPEATS)

    told = island.ask("careful", question)

    assert HERON in told["result"]
    assert "guardrail" not in told["result"]


def test_an_agent_reads_no_file_that_its_role_does_not_allow(island: Island) -> None:
    content = {
        "location": "s3",
        "bucket": island.outputs["Library"]["Bucket"],
        "key": "tides/ferry.md",
    }

    told = island.ask("both", "", contentType="file", content=content)

    # Bedrock's knowledge base has read it, and root can; the function's role can't.
    assert island.client("s3").head_object(Bucket=content["bucket"], Key=content["key"])
    assert (told["success"], told["errorType"]) == (False, "ObjectRefused")


def test_a_tool_of_a_third_party_finds_its_module_in_a_layer(island: Island) -> None:
    question = "Who looks after the harbour?"
    island.say(question, {"uses": [{"name": "harbour_master", "input": {}}]}, REPEATS)

    told = island.ask("tooled", question)

    assert told["result"] == "The harbour master is Orla Finch."
    assert "KNOWLEDGE_BASES_CONFIG" not in island.environment("tooled")


def test_a_knowledge_base_of_a_third_partys_class_is_searched_by_its_own_tool(
    island: Island, tmp_path: Path
) -> None:
    dynamodb = island.client("dynamodb")
    dynamodb.create_table(
        TableName="terms",
        KeySchema=[{"AttributeName": "term", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "term", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    meaning = "Where boats lie when the tide is out."
    dynamodb.put_item(TableName="terms", Item={"term": {"S": "hard"}, "meaning": {"S": meaning}})
    looks_up = {"uses": [{"name": "look_up_term", "input": {"term": "Hard"}}]}
    island.say("She is on the hard.", looks_up, REPEATS, model="global.amazon.nova-2-lite-v1:0")

    cdk(
        island.instance,
        "deploy",
        "--require-approval=never",
        f"--output={tmp_path}",
        cwd=EXAMPLES,
        app=f"{sys.executable} third_party.py",
    )
    told = island.invoke(island.function_of("librarian"), "She is on the hard.")

    assert told == {"success": True, "result": meaning}


def test_of_a_batch_only_the_message_that_failed_stays(island: Island) -> None:
    questions, answers = (
        Queue(island.client, island.outputs["Agents"][f"{name}Queue"])
        for name in ("questions", "answers")
    )
    told: list[dict[str, Any]] = []

    questions.send([event("When does the ferry leave?"), "no event", event("Is there a ferry?")])

    def answered() -> bool:
        told.extend(map(json.loads, answers.take()))
        return len(told) >= 2 and questions.counts() == ONE_IS_HANDLED

    eventually(answered, "two answers, and one message that isn't gone")
    assert len(told) == len({each["messageId"] for each in told}) == 2
    assert all(each["success"] and FERRY in each["result"] for each in told)


def event(question: str) -> str:
    return json.dumps({"contentType": "data", "content": {"data": question}})
