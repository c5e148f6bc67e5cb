"""
The state machine by wire: on Step Functions Local where there is one, and on ministack's server,
which proves that whatever answers for Step Functions at an endpoint can run these tests.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import boto3
import pytest
from moto import mock_aws

from simulator.tests.running import free_port, ministack
from tests.workflow.conftest import MOTO, ROLE
from tests.workflow.engines import HERE, SCRIPTS, WAYS, by_wire, strictly
from tests.workflow.invocation_forwarder import package
from tests.workflow.step_functions_local import ENDPOINT, WITHOUT


@pytest.fixture(autouse=True)
def aws() -> Iterator[None]:
    with mock_aws(config=MOTO):
        yield


@contextmanager
def forwarding_ministack(port: int) -> Iterator[str]:
    """Its endpoint; the machine's functions are answered at that port."""
    with ministack() as endpoint:
        client = boto3.client(
            "lambda",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id=ROLE.split(":")[4],  # the account, as ministack has it
            aws_secret_access_key="none",
        )
        for name in ("ingest", "status_poller"):
            target = f"http://127.0.0.1:{port}/2015-03-31/functions/{name}/invocations"
            client.create_function(
                FunctionName=name,
                Runtime="provided.al2023",
                Role=ROLE,
                Handler="none",
                Timeout=60,
                Code={"ZipFile": package()},
                Environment={"Variables": {"FORWARD_TO": target}},
            )
        yield endpoint


@pytest.mark.processes
@pytest.mark.skipif(not ENDPOINT, reason=WITHOUT)
def test_step_functions_local_takes_every_way_as_moto_does() -> None:
    ways = {str(step): WAYS.over(step, avoiding=WAYS.waiting) for step in HERE}
    scripts = {**{name: way.replies for name, way in ways.items() if way}, **SCRIPTS}

    taken = {name: by_wire(script, endpoint=ENDPOINT) for name, script in scripts.items()}

    assert taken == {name: strictly(script) for name, script in scripts.items()}


@pytest.mark.processes
def test_ministack_by_wire_takes_retries_and_tokens_as_moto_does() -> None:
    port = free_port()
    names = ("retries", "queued", "a turn that fails")

    with forwarding_ministack(port) as endpoint:
        taken = [by_wire(SCRIPTS[name], endpoint=endpoint, port=port) for name in names]

    assert taken == [strictly(SCRIPTS[name]) for name in names]
