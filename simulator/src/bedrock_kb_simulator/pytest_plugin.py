"""
A pytest plugin: the fixture `bedrock_kb`, an empty knowledge base that is ready for documents.

    def test_it_is_found(bedrock_kb):
        bedrock_kb.put("parking.txt", "Parking is free on Sundays.")
        bedrock_kb.sync()
        assert bedrock_kb.retrieve("What does parking cost?")

The simulator runs in this process, from the first test that requests the fixture to the end of the
run. Each test has an account of its own with nothing but the fixture's resources. A mark sets speed
and limits:

    @pytest.mark.bedrock_kb(speed=20, limits={"knowledge-base.per-account": 2, "Retrieve": 2})

`speed` is the number of AWS seconds in a real one; `limits` has names of rules, as in
docs/fidelity.json, or names of operations with their requests per second.
"""

import difflib
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# Everything else is imported by the first test that requests the fixture: others don't wait for it.
if TYPE_CHECKING:
    from bedrock_kb_simulator.faults import Faults
    from bedrock_kb_simulator.server import Simulator

_SPEED = 100.0
_REGION, _KEY, _ACCOUNT = "us-east-1", "test", "000000000000"
_SERVICES = ("BEDROCK", "BEDROCK_AGENT", "BEDROCK_AGENT_RUNTIME", "BEDROCK_RUNTIME")
_TITAN = f"arn:aws:bedrock:{_REGION}::foundation-model/amazon.titan-embed-text-v2:0"
# Bedrock's text and its own metadata exceed the limit of filterable metadata
# [https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html].
_UNFILTERED = ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]


@dataclass(frozen=True, kw_only=True)
class BedrockKB:
    """
    A knowledge base on S3 Vectors, whose data source is a whole bucket.

    Clients created by the tested code find it, too: AWS_ENDPOINT_URL_... are set during the test.
    """

    endpoint: str
    bucket: str
    index_arn: str
    knowledge_base_id: str
    data_source_id: str
    speed: float
    faults: "Faults"

    def client(self, service: str) -> Any:
        """Return a boto3 client of `bedrock-agent`, `bedrock-agent-runtime`, `s3vectors`, ..."""
        return _client(service, self.endpoint)

    def put(self, key: str, body: str | bytes, attributes: Mapping[str, Any] | None = None) -> str:
        """Upload a document and a sidecar with its attributes; return its URI."""
        put_object = self.client("s3").put_object
        put_object(Bucket=self.bucket, Key=key, Body=body)
        if attributes is not None:
            sidecar = json.dumps({"metadataAttributes": attributes})
            put_object(Bucket=self.bucket, Key=f"{key}.metadata.json", Body=sidecar)
        return f"s3://{self.bucket}/{key}"

    def sync(self) -> dict[str, Any]:
        """Run a job, wait until searches find what it indexed, and return the job."""
        from bedrock_kb_simulator.rules import SEARCHABLE_LAG  # noqa: PLC0415 - see above

        agent = self.client("bedrock-agent")
        source = {"knowledgeBaseId": self.knowledge_base_id, "dataSourceId": self.data_source_id}
        job: dict[str, Any] = agent.start_ingestion_job(**source)["ingestionJob"]
        while job["status"] not in ("COMPLETE", "FAILED", "STOPPED"):
            time.sleep(0.02)
            response = agent.get_ingestion_job(**source, ingestionJobId=job["ingestionJobId"])
            job = response["ingestionJob"]
        time.sleep(SEARCHABLE_LAG.value / self.speed)
        return job

    def retrieve(self, text: str, **search: Any) -> list[dict[str, Any]]:
        """Return search results, best first; `search` goes into vectorSearchConfiguration."""
        found: list[dict[str, Any]] = self.client("bedrock-agent-runtime").retrieve(
            knowledgeBaseId=self.knowledge_base_id,
            retrievalQuery={"text": text},
            retrievalConfiguration={"vectorSearchConfiguration": search},
        )["retrievalResults"]
        return found

    def fail(self, operation: str, kind: str, **more: Any) -> None:
        """
        Inject a fault into the next call of an operation: `fail("Retrieve", "throttle", times=2)`.

        bedrock_kb_simulator.faults lists the kinds; `more` has further fields of `Fault`.
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
    """Yield the server and the folder for its data."""
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
) -> BedrockKB:
    """Return a knowledge base in an account of the test's own."""
    from bedrock_kb_simulator import builtin_s3  # noqa: PLC0415 - see above
    from bedrock_kb_simulator.server import Configuration, Faults  # noqa: PLC0415

    marker = request.node.get_closest_marker("bedrock_kb")
    options = dict(marker.kwargs) if marker else {}
    speed, limits = options.pop("speed", _SPEED), options.pop("limits", {})
    if options or (marker and marker.args):
        raise pytest.UsageError("the mark bedrock_kb takes only speed and limits")
    (server, folder), faults = _bedrock_kb_server, Faults()
    endpoint = server.endpoint
    for service in (*_SERVICES, "S3", "S3VECTORS", "TEXTRACT"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", endpoint)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, _KEY)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", _REGION)
    for name, value in limits.items():
        _set_limit(monkeypatch, name, value)
    own = Path(tempfile.mkdtemp(dir=folder))
    server.renew(Configuration(data_dir=own, speed=speed, faults=faults))
    builtin_s3.forget()
    for each in folder.iterdir():
        if each != own:  # data of previous tests
            shutil.rmtree(each)
    resources = _create_resources(endpoint)
    return BedrockKB(endpoint=endpoint, speed=speed, faults=faults, **resources)


def _create_resources(endpoint: str) -> dict[str, str]:
    """Create a bucket, index, knowledge base and data source; return BedrockKB's fields."""
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
    knowledge_base = agent.create_knowledge_base(
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
    while knowledge_base["status"] == "CREATING":
        time.sleep(0.005)
        response = agent.get_knowledge_base(knowledgeBaseId=knowledge_base["knowledgeBaseId"])
        knowledge_base = response["knowledgeBase"]
    source = agent.create_data_source(
        knowledgeBaseId=knowledge_base["knowledgeBaseId"],
        name="data-source",
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": f"arn:aws:s3:::{bucket}"},
        },
    )["dataSource"]
    return {
        "bucket": bucket,
        "index_arn": index_arn,
        "knowledge_base_id": knowledge_base["knowledgeBaseId"],
        "data_source_id": source["dataSourceId"],
    }


@cache
def _client(service: str, endpoint: str) -> Any:
    import boto3  # noqa: PLC0415 - see above

    keys = {"aws_access_key_id": _KEY, "aws_secret_access_key": _KEY}
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    return boto3.client(service, endpoint_url=endpoint, region_name=_REGION, **keys)  # type: ignore[call-overload]


def _set_limit(monkeypatch: pytest.MonkeyPatch, name: str, value: float) -> None:
    """Change the table of limits, which no other code changes, until the test ends."""
    from bedrock_kb_simulator.rules import RATES, RULES  # noqa: PLC0415 - see above

    limits = {each: rule for each, rule in RULES.items() if rule.value}
    if name in RATES:
        monkeypatch.setitem(RATES, name, value)
    elif name in limits:
        monkeypatch.setitem(vars(limits[name]), "value", value)
    else:
        near = difflib.get_close_matches(name, [*limits, *RATES])
        raise pytest.UsageError(f"unknown limit {name!r}; similar names: {', '.join(near)}")
