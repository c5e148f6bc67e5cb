"""
A pytest plugin: the fixture `bedrock_kb`, a knowledge base that is ready to be filled.

    def test_it_is_found(bedrock_kb):
        bedrock_kb.put("parking.txt", "Parking is free on Sundays.")
        bedrock_kb.sync()
        assert bedrock_kb.retrieve("What does parking cost?")

The simulator serves in this process, from the first test that asks for it to the end of the run;
each test begins with an account that has nothing but what the fixture made. A mark says how fast it
is, and sets limits:

    @pytest.mark.bedrock_kb(speed=20, limits={"knowledge-base.per-account": 2, "Retrieve": 2})

`speed` is how many of AWS's seconds pass in one; `limits` are rules by name, as docs/fidelity.json
has them, or operations with their requests per second.
"""

import difflib
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# All else is imported by the first test that asks for the fixture: others don't wait for it.
if TYPE_CHECKING:
    from bedrock_kb_simulator.faults import Faults
    from bedrock_kb_simulator.server import Simulator

_SPEED = 100.0
_REGION, _KEY, _ACCOUNT = "us-east-1", "test", "000000000000"
_SERVICES = ("BEDROCK", "BEDROCK_AGENT", "BEDROCK_AGENT_RUNTIME", "BEDROCK_RUNTIME")
_TITAN = f"arn:aws:bedrock:{_REGION}::foundation-model/amazon.titan-embed-text-v2:0"
# What Bedrock writes beside a text is longer than filterable metadata may be
# [https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html].
_UNFILTERED = ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]


@dataclass(frozen=True, kw_only=True)
class BedrockKB:
    """
    A knowledge base on S3 Vectors, whose data source is all of a bucket. Clients of other code,
    which it makes while the test runs, find it too: AWS_ENDPOINT_URL_... are set.
    """

    endpoint: str
    bucket: str
    index_arn: str
    knowledge_base_id: str
    data_source_id: str
    speed: float
    faults: "Faults"

    def client(self, service: str) -> Any:
        """boto3's, of `bedrock-agent`, `bedrock-agent-runtime`, `s3vectors`, `s3`, ..."""
        return _client(service, self.endpoint)

    def put(self, key: str, body: str | bytes, attributes: Mapping[str, Any] | None = None) -> str:
        """Upload a document, and the sidecar with its attributes; answers its URI."""
        put_object = self.client("s3").put_object
        put_object(Bucket=self.bucket, Key=key, Body=body)
        if attributes is not None:
            sidecar = json.dumps({"metadataAttributes": attributes})
            put_object(Bucket=self.bucket, Key=f"{key}.metadata.json", Body=sidecar)
        return f"s3://{self.bucket}/{key}"

    def sync(self) -> dict[str, Any]:
        """Run a job to its end, and until searches find what it indexed; answers the job."""
        from bedrock_kb_simulator.rules import SEARCHABLE_LAG  # noqa: PLC0415 - see above

        agent = self.client("bedrock-agent")
        source = {"knowledgeBaseId": self.knowledge_base_id, "dataSourceId": self.data_source_id}
        job: dict[str, Any] = agent.start_ingestion_job(**source)["ingestionJob"]
        while job["status"] not in ("COMPLETE", "FAILED", "STOPPED"):
            time.sleep(0.02)
            asked = agent.get_ingestion_job(**source, ingestionJobId=job["ingestionJobId"])
            job = asked["ingestionJob"]
        time.sleep(SEARCHABLE_LAG.value / self.speed)
        return job

    def retrieve(self, text: str, **search: Any) -> list[dict[str, Any]]:
        """What a search finds, best first; `search` is of its vectorSearchConfiguration."""
        found: list[dict[str, Any]] = self.client("bedrock-agent-runtime").retrieve(
            knowledgeBaseId=self.knowledge_base_id,
            retrievalQuery={"text": text},
            retrievalConfiguration={"vectorSearchConfiguration": search},
        )["retrievalResults"]
        return found

    def fail(self, operation: str, kind: str, **more: Any) -> None:
        """
        Let the next call of the operation meet a fault, as `fail("Retrieve", "throttle", times=2)`:
        bedrock_kb_simulator.faults has the kinds, and `Fault` what more there is.
        """
        from bedrock_kb_simulator.faults import Fault, Kind  # noqa: PLC0415 - see above

        self.faults.ask(Fault(operation=operation, kind=Kind(kind), **more))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "bedrock_kb(speed=100, limits={}): how fast the fixture's simulator is, and its limits",
    )


@pytest.fixture(scope="session")
def _bedrock_kb_server() -> Iterator[tuple["Simulator", Path]]:
    """It, and the folder for what it keeps."""
    from bedrock_kb_simulator.server import Configuration, Simulator  # noqa: PLC0415 - see above

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bedrock-kb-"))
        server = Simulator(Configuration(data_dir=Path(folder, "first")))
        yield stack.enter_context(server), Path(folder)


@pytest.fixture
def bedrock_kb(
    request: pytest.FixtureRequest,
    _bedrock_kb_server: tuple["Simulator", Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[BedrockKB]:
    """A knowledge base of the test's own, in an account that has no other."""
    from bedrock_kb_simulator import own_s3  # noqa: PLC0415 - see above
    from bedrock_kb_simulator.server import Configuration, Faults  # noqa: PLC0415

    marker = request.node.get_closest_marker("bedrock_kb")
    options = dict(marker.kwargs) if marker else {}
    speed, limits = options.pop("speed", _SPEED), options.pop("limits", {})
    if options or (marker and marker.args):
        raise pytest.UsageError("bedrock_kb(speed=..., limits=...) is all that the mark takes")
    (server, folder), faults = _bedrock_kb_server, Faults()
    endpoint = server.endpoint
    for service in (*_SERVICES, "S3", "S3VECTORS", "TEXTRACT"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", endpoint)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, _KEY)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", _REGION)
    with ExitStack() as stack:
        for name, value in limits.items():
            stack.enter_context(_limited(name, value))
        own = Path(tempfile.mkdtemp(dir=folder))
        server.renew(Configuration(data_dir=own, speed=speed, faults=faults))
        own_s3.forget()
        for each in folder.iterdir():
            if each != own:  # of the test before, which nobody serves any more
                shutil.rmtree(each)
        yield BedrockKB(endpoint=endpoint, speed=speed, faults=faults, **_made(endpoint))


def _made(endpoint: str) -> dict[str, str]:
    """A bucket, an index, a knowledge base and its data source, by their names in BedrockKB."""
    bucket, vectors = "documents", _client("s3vectors", endpoint)
    _client("s3", endpoint).create_bucket(Bucket=bucket)
    vectors.create_vector_bucket(vectorBucketName="vectors")
    index_arn = vectors.create_index(
        vectorBucketName="vectors",
        indexName="passages",
        dataType="float32",
        dimension=1024,
        distanceMetric="cosine",
        metadataConfiguration={"nonFilterableMetadataKeys": _UNFILTERED},
    )["indexArn"]
    agent = _client("bedrock-agent", endpoint)
    made = agent.create_knowledge_base(
        name="knowledge-base",
        roleArn=f"arn:aws:iam::{_ACCOUNT}:role/knowledge-base",
        knowledgeBaseConfiguration={
            "type": "VECTOR",
            "vectorKnowledgeBaseConfiguration": {"embeddingModelArn": _TITAN},
        },
        storageConfiguration={
            "type": "S3_VECTORS",
            "s3VectorsConfiguration": {"indexArn": index_arn},
        },
    )["knowledgeBase"]
    while made["status"] == "CREATING":
        time.sleep(0.005)
        asked = agent.get_knowledge_base(knowledgeBaseId=made["knowledgeBaseId"])
        made = asked["knowledgeBase"]
    source = agent.create_data_source(
        knowledgeBaseId=made["knowledgeBaseId"],
        name="data-source",
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": f"arn:aws:s3:::{bucket}"},
        },
    )["dataSource"]
    return {
        "bucket": bucket,
        "index_arn": index_arn,
        "knowledge_base_id": made["knowledgeBaseId"],
        "data_source_id": source["dataSourceId"],
    }


@cache
def _client(service: str, endpoint: str) -> Any:
    import boto3  # noqa: PLC0415 - see above

    keys = {"aws_access_key_id": _KEY, "aws_secret_access_key": _KEY}
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    return boto3.client(service, endpoint_url=endpoint, region_name=_REGION, **keys)  # type: ignore[call-overload]


@contextmanager
def _limited(name: str, value: float) -> Iterator[None]:
    from bedrock_kb_simulator.rules import RATES, RULES  # noqa: PLC0415 - see above

    if name in RATES:
        rates: MutableMapping[str, float] = RATES
        before, rates[name] = rates[name], value
        try:
            yield
        finally:
            rates[name] = before
        return
    limits = [each for each, rule in RULES.items() if rule.value]
    if name not in limits:
        near = difflib.get_close_matches(name, [*limits, *RATES])
        raise pytest.UsageError(f"no limit is named {name!r}; near to it: {', '.join(near)}")
    rule = RULES[name]
    before = rule.value
    object.__setattr__(rule, "value", value)  # the one table of limits, which no code else changes
    try:
        yield
    finally:
        object.__setattr__(rule, "value", before)
