"""Signatures: accepted from the account's root and its sessions only."""

import urllib.request
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from bedrock_kb_simulator import fault_orders, orders, rules
from bedrock_kb_simulator.access_keys import RootKey, new_id
from bedrock_kb_simulator.server import Configuration, Simulator
from simulator.tests.holding import holds

pytestmark = pytest.mark.processes
ROOT = RootKey(access_key_id="AKIAOFTHEROOT", secret_access_key="of-the-root")


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("signed")
    configuration = Configuration(data_dir=folder, s3_endpoint="http://127.0.0.1:9", root_key=ROOT)
    with Simulator(configuration) as simulator:
        yield simulator.endpoint


def client(endpoint: str, key: str, secret: str, token: str | None = None) -> Any:
    return boto3.session.Session(key, secret, token, region_name="us-east-1").client(
        "bedrock-agent", endpoint_url=endpoint
    )


@holds("request.signer", "request.signature")
def test_root_and_sessions_of_the_account_are_accepted(endpoint: str) -> None:
    session = new_id("ASIA")

    for each in (
        client(endpoint, ROOT.access_key_id, ROOT.secret_access_key),
        client(endpoint, session, ROOT.secret_of(session), ROOT.token_of(session)),
    ):
        assert each.list_knowledge_bases()["knowledgeBaseSummaries"] == []
        with pytest.raises(each.exceptions.ResourceNotFoundException):  # with a path and a body
            each.list_data_sources(knowledgeBaseId="ABCDE12345")


@holds("request.signer", "request.signature")
@pytest.mark.parametrize(
    ("key", "secret", "token", "rule"),
    [
        (ROOT.access_key_id, "another", None, rules.SIGNATURE_WRONG),
        ("test", "test", None, rules.SIGNATURE_WRONG),
        (ROOT.access_key_id, ROOT.secret_access_key, "a-token", rules.SIGNER_UNKNOWN),
        ("ASIA0", ROOT.secret_of("ASIA0"), None, rules.SIGNER_UNKNOWN),
        ("ASIA0", ROOT.secret_of("ASIA0"), ROOT.token_of("ASIA1"), rules.SIGNER_UNKNOWN),
        ("ASIA0", "another", ROOT.token_of("ASIA0"), rules.SIGNATURE_WRONG),
    ],
)
def test_other_signers_are_refused(
    endpoint: str, key: str, secret: str, token: str | None, rule: rules.Rule
) -> None:
    with pytest.raises(ClientError) as refused:
        client(endpoint, key, secret, token).list_knowledge_bases()

    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == rule.status
    assert refused.value.response["Error"] == {"Code": rule.error, "Message": rule.message}


@holds("request.signature")
@pytest.mark.parametrize(("minutes", "is_taken"), [(4, True), (6, False)])
def test_signature_is_valid_for_five_minutes(
    endpoint: str, minutes: int, is_taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    then = datetime.now(UTC) - timedelta(minutes=minutes)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: then)
    url = endpoint + fault_orders.PATH
    signed = AWSRequest("GET", url)
    key = Credentials(ROOT.access_key_id, ROOT.secret_access_key)
    SigV4Auth(key, "bedrock", "us-east-1").add_auth(signed)

    request = urllib.request.Request(url, headers=dict(signed.headers))
    with nullcontext() if is_taken else pytest.raises(OSError, match="403"):
        urllib.request.urlopen(request).close()


def test_control_endpoints_need_the_roots_signature(endpoint: str) -> None:
    url = endpoint + fault_orders.PATH

    orders.send(url, {"chance": {"seed": 3}}, ROOT)
    with pytest.raises(OSError, match="403"):
        orders.send(url, {"chance": {"seed": 4}})

    assert b'"seed": 3' in orders.ask("GET", url, key=ROOT)
