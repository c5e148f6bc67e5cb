"""The fixture `bedrock_kb`: a knowledge base for each test."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

OF_A_USER = """
import sys

import pytest


def test_nothing_is_loaded_for_who_does_not_ask():
    assert not {"boto3", "moto", "onnxruntime", "uvicorn"} & sys.modules.keys()


def test_one(bedrock_kb):
    bedrock_kb.put("parking.txt", "Parking is free on Sundays.", {"year": 2026})
    bedrock_kb.put("soup.md", "The canteen serves soup.", {"year": 2025})
    job = bedrock_kb.sync()

    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 2
    best = bedrock_kb.retrieve("What does parking cost?")[0]
    assert best["content"]["text"] == "Parking is free on Sundays."
    narrowed = bedrock_kb.retrieve("parking", filter={"equals": {"key": "year", "value": 2025}})
    assert [each["metadata"]["year"] for each in narrowed] == [2025]


def test_another_begins_with_nothing_of_it(bedrock_kb):
    agent = bedrock_kb.client("bedrock-agent")

    assert len(agent.list_knowledge_bases()["knowledgeBaseSummaries"]) == 1
    assert bedrock_kb.client("s3").list_objects_v2(Bucket=bedrock_kb.bucket)["KeyCount"] == 0
    assert bedrock_kb.retrieve("parking") == []


def test_a_fault_is_met_by_the_next_call_and_other_clients_find_the_way(bedrock_kb):
    import boto3
    from botocore.exceptions import ClientError

    own = boto3.client("bedrock-agent-runtime")
    asked = {"knowledgeBaseId": bedrock_kb.knowledge_base_id, "retrievalQuery": {"text": "soup"}}
    bedrock_kb.fail("Retrieve", "throttle", times=5)  # as many attempts as boto3 makes

    with pytest.raises(ClientError, match="ThrottlingException"):
        own.retrieve(**asked)
    assert own.retrieve(**asked)["retrievalResults"] == []


@pytest.mark.bedrock_kb(speed=500, limits={"knowledge-base.per-account": 1})
def test_a_limit_is_that_of_the_mark(bedrock_kb):
    agent = bedrock_kb.client("bedrock-agent")
    made = agent.get_knowledge_base(knowledgeBaseId=bedrock_kb.knowledge_base_id)["knowledgeBase"]
    kept = ("roleArn", "knowledgeBaseConfiguration", "storageConfiguration")

    with pytest.raises(agent.exceptions.ServiceQuotaExceededException):
        agent.create_knowledge_base(name="more", **{name: made[name] for name in kept})


@pytest.mark.bedrock_kb(limits={"knowledge-base.per-acount": 1})
def test_a_limit_with_a_wrong_name(bedrock_kb):
    pass
"""


def test_fixture_has_a_new_knowledge_base_and_the_marks_limits(tmp_path: Path) -> None:
    (tmp_path / "test_of_a_user.py").write_text(OF_A_USER)
    plugins = ["-p", "bedrock_kb_simulator.pytest_plugin", "-p", "no:valkey"]

    run = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-W", "error", "--strict-markers", "-q"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "5 passed, 1 error in" in run.stdout, run.stdout + run.stderr
    assert "similar names: knowledge-base.per-account" in run.stdout
