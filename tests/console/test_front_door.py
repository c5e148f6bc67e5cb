"""
The start page of a new user: three steps, a sample catalog, and how to connect other programs.
"""

import json
import re
from dataclasses import replace
from html import unescape

import pytest
from starlette.testclient import TestClient

from docs.clients import blocks
from stackroom.aws import session
from stackroom.model.records import DocumentStatus
from stackroom_console.app import console_app
from stackroom_console.console import Console
from tests.aws.stores import BUCKET
from tests.console.browser import URL, Browser
from tests.console.conftest import MCP_URL, NewBrowser
from tests.console.things import dropped, new_catalog
from tests.functions.pipeline import Pipeline

STEPS = "Three steps to your first answer"
SAMPLE = 4


def test_first_steps_are_shown_until_a_user_has_a_document(
    alice: Browser, pipeline: Pipeline
) -> None:
    nothing = alice.get("/catalogs").text
    catalog = new_catalog(alice)
    begun = alice.get("/catalogs").text
    dropped(pipeline, "alice", catalog, "a.txt")
    used = alice.get("/catalogs").text

    assert [STEPS in each for each in (nothing, begun, used)] == [True, True, False]
    assert 'href="/catalogs/new"' in nothing.split(STEPS)[1]
    assert f'role="button" href="/catalogs/{catalog}"' in begun.split(STEPS)[1]
    assert 'action="/catalogs/sample"' in nothing


@pytest.mark.slow
def test_sample_is_ingested_like_any_file_and_only_once(
    alice: Browser, pipeline: Pipeline, console: Console
) -> None:
    answers = [alice.post("/catalogs/sample") for _ in range(2)]

    [path] = {each.headers["location"] for each in answers}
    catalog_id = path.rpartition("/")[2]
    documents = console.services.listing.documents_of("alice", catalog_id).documents
    assert {each.status for each in documents} == {DocumentStatus.UPLOADING}  # no event came yet
    versions = session.client("s3").list_object_versions(Bucket=BUCKET)["Versions"]
    assert len(documents) == len(versions) == SAMPLE
    for each in versions:
        pipeline.arrive(each["Key"])
    documents = console.services.listing.documents_of("alice", catalog_id).documents
    assert {each.status for each in documents} == {DocumentStatus.PENDING}


def lines_of(text: str) -> list[str]:
    return [unescape(each) for each in re.findall(r'<code id="[^"]+">(.*?)</code>', text, re.S)]


def test_connect_has_the_lines_of_the_docs_with_the_address_in_them(
    alice: Browser, new_browser: NewBrowser
) -> None:
    operator = new_browser()
    operator.sign_in("olga", "operators")

    mine, olgas = (lines_of(each.get("/connect").text) for each in (alice, operator))

    asking_the_gateway = [each for each in blocks() if "STACKROOM_MCP_URL" in each.text]
    written = [
        each.text.replace("$STACKROOM_MCP_URL", MCP_URL)
        .replace('os.environ["STACKROOM_MCP_URL"]', json.dumps(MCP_URL))
        .replace("process.env.STACKROOM_MCP_URL", json.dumps(MCP_URL))
        .replace("daily meal allowance in Norway", "Which kinds of files does Stackroom read?")
        for each in asking_the_gateway
    ]
    assert MCP_URL in mine
    assert mine[-len(written) :] == written
    assert not [each for each in mine if "STACKROOM_MCP_URL" in each]
    # What finds everybody's documents is for operators.
    assert not [each for each in mine if "KNOWLEDGE_BASE_ID" in each]
    assert len([each for each in olgas if "KNOWLEDGE_BASE_ID" in each]) > 2


@pytest.mark.parametrize(
    ("is_deployment", "command_line", "expected"),
    [
        (
            False,
            "stackroom {} --state-dir /kept",
            'export STACKROOM_TOKEN="$(stackroom token --user alice --state-dir /kept)"\n',
        ),
        (
            True,
            "stackroom --deployment prod {}",
            "stackroom --deployment prod login\n"
            'export STACKROOM_TOKEN="$(stackroom --deployment prod token)"\n',
        ),
    ],
    ids=["in the local mode", "of a deployment"],
)
def test_a_token_is_had_from_a_command_and_never_stands_on_the_page(
    console: Console, alice: Browser, is_deployment: bool, command_line: str, expected: str
) -> None:
    connection = replace(console.connection, command_line=command_line, is_deployment=is_deployment)
    served = console_app(replace(console, connection=connection))
    visitor = Browser(client=TestClient(served, base_url=URL), provider=alice.provider)
    visitor.sign_in("alice")

    text = visitor.get("/connect").text

    assert expected in lines_of(text)
    assert ("agents" in lines_of(text)) is is_deployment
    signed_in = [
        each for each in lines_of(text) if "claude mcp add" in each or '"stackroom"' in each
    ]
    assert len([each for each in signed_in if MCP_URL in each]) >= 4
    assert len([each for each in signed_in if "agents" in each]) == (4 if is_deployment else 0)
    assert not re.search(r"eyJ[A-Za-z0-9_-]{10}", text)
