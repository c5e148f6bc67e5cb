"""
A page of another site in a developer's browser, and each port of the local mode: it reads nothing
and changes nothing. The console's own pages: test_security_sites.
"""

import json
from collections.abc import Iterator

import pytest

from stackroom_local.simulator import orders
from stackroom_local.simulator.fault_orders import PATH as FAULTS
from stackroom_local.state import Instance
from tests.browser.test_security_sites import HOSTS, Elsewhere, elsewhere
from tests.browser.visitors import Visitor

FORM = "application/x-www-form-urlencoded"
# What a page may send without asking first, and what it must ask for (OPTIONS).
TYPES = ("text/plain", FORM, "application/x-amz-json-1.0")
# `key` is of a file that isn't there before.
REQUESTS = {
    "aws": [
        ("GET", "/_ministack/health", ""),
        ("POST", "/_ministack/reset", ""),
        ("POST", "/_ministack/config", '{"sqs.QUEUE": "1"}'),
        ("GET", "/", ""),
        ("GET", "/{bucket}?list-type=2", ""),
        ("PUT", "/{bucket}/{key}", "planted"),
        ("DELETE", "/{bucket}", ""),
        ("POST", "/{bucket}?delete", "<Delete/>"),
        ("POST", "/", "Action=ListUsers&Version=2010-05-08"),
        ("POST", "/?Action=CreateQueue&QueueName=planted&Version=2012-11-05", ""),
        ("POST", "/2015-03-31/functions/{project}-retrieve/invocations", "{}"),
    ],
    "simulator": [
        ("GET", "/health", ""),
        ("POST", "/knowledgebases/", "{}"),
        ("GET", FAULTS, ""),
        ("POST", FAULTS, '{"chance": {"seed": 1}}'),
        ("DELETE", FAULTS, ""),
    ],
    "gateway": [
        ("POST", "/mcp", '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'),
        ("GET", "/authorize", ""),
        ("POST", "/token", "grant_type=authorization_code&client_id=stackroom-local&code=x"),
    ],
    "console": [("GET", "/catalogs", ""), ("POST", "/api/catalogs", '{"name": "planted"}')],
}
ASK = """
async ({url, method, body, type, mode, as_target}) => {
  const headers = {"Content-Type": type, "X-Amz-Target": "DynamoDB_20120810.ListTables"};
  if (!as_target) delete headers["X-Amz-Target"];
  const sent = method === "GET" ? {} : {body, headers};
  try {
    const answer = await fetch(url, {method, mode, credentials: "include", ...sent});
    return answer.type === "opaque" ? "" : await answer.text();
  } catch (error) {
    return "";
  }
}
"""


@pytest.fixture
def foreign() -> Iterator[Elsewhere]:
    with elsewhere() as site:
        yield site


@pytest.mark.parametrize("port", REQUESTS)
@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_page_reads_and_changes_nothing_at_any_port(
    stranger: Visitor, instance: Instance, foreign: Elsewhere, host: str, port: str
) -> None:
    endpoint = {
        "aws": instance.aws_endpoint,
        "simulator": instance.simulator_endpoint,
        "gateway": instance.issuer,
        "console": stranger.url,
    }[port]
    key, before = f"alice/planted-{host}-{port}.txt", _everything(instance)
    names = {"bucket": instance.bucket, "key": key, "project": instance.project}
    page = stranger.page
    page.goto(foreign.address(host))
    assert page.evaluate(ASK, _request("GET", foreign.address(host, "/own"), "", "cors")) == ""
    foreign.pages["/own"] = "its own"
    own = _request("GET", foreign.address(host, "/own"), "", "cors")
    assert page.evaluate(ASK, own) == "its own", "what may be read is read"

    for method, path, body in REQUESTS[port]:
        url = endpoint + path.format(**names)
        for mode in ("cors", "no-cors"):
            for type_ in TYPES if body else TYPES[:1]:
                asked = _request(method, url, body, mode, type_)
                assert page.evaluate(ASK, asked) == "", (method, url, mode, type_)

    assert _everything(instance) == before


def _request(
    method: str, url: str, body: str, mode: str, type_: str = "text/plain"
) -> dict[str, object]:
    is_table = type_ == TYPES[-1]
    return {
        "method": method,
        "url": url,
        "body": body,
        "mode": mode,
        "type": type_,
        "as_target": is_table,
    }


def _everything(instance: Instance) -> dict[str, object]:
    """What none of the requests may have changed, or made."""
    s3, sqs = instance.client("s3"), instance.client("sqs")
    faults = orders.ask("GET", instance.simulator_endpoint + FAULTS, key=instance.root_key)
    return {
        "buckets": [each["Name"] for each in s3.list_buckets()["Buckets"]],
        "planted": [
            each["Key"]
            for each in s3.list_objects_v2(Bucket=instance.bucket, Prefix="alice/planted").get(
                "Contents", []
            )
        ],
        "tables": instance.client("dynamodb").list_tables()["TableNames"],
        "queues": sqs.list_queues()["QueueUrls"],
        "faults": json.loads(faults)["chance"],
    }
