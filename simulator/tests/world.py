"""A small AWS of real boto3 clients for the tests: an S3, a simulator, and what is in them."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from bedrock_kb_simulator.aws_clock import Clock

REGION = "us-east-1"
TITAN = f"arn:aws:bedrock:{REGION}::foundation-model/amazon.titan-embed-text-v2:0"
HAIKU = f"arn:aws:bedrock:{REGION}::foundation-model/anthropic.claude-3-haiku-20240307-v1:0"
ROLE = "arn:aws:iam::000000000000:role/knowledge-base"
CUSTOM = {"type": "CUSTOM"}
ASKED_FOR = ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]  # by AWS's guide
OF_BEDROCK = ("source-uri", "document-page-number", "chunk-id", "source-file-modality")
NON_FILTERABLE = [
    *ASKED_FOR,
    *(f"x-amz-bedrock-kb-{name}" for name in (*OF_BEDROCK, "source-file-mime-type")),
]

Topic = tuple[str, Sequence[str]]  # its definition, and examples

# One attempt: a test wants to see the throttle, not have it retried away; and what breaks the
# model is for the simulator to refuse, since not every client checks as boto3 does.
_ONCE = Config(
    retries={"total_max_attempts": 1},
    s3={"addressing_style": "path"},
    parameter_validation=False,
)

KEY = "test"  # id and secret, also of a simulator in a process of its own; no session's
# By name, what they are, and questions about them.
TOPICS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Investment advice": (
        "Inquiries, guidance or recommendations about the management or allocation of funds or"
        " assets with the goal of generating returns.",
        (
            "Is investing in stocks better than bonds?",
            "Should I invest in gold?",
            "Which fund brings the best return?",
        ),
    ),
    "Salaries": (
        "What employees of the company earn: their salaries, bonuses and raises.",
        ("What does Anna earn?", "How high is the director's bonus?", "Who got a raise?"),
    ),
}


@cache
def client(service: str, endpoint: str, *, patient: bool = False) -> Any:
    """Return a client; a patient one retries throttled calls, for tests that aren't about rates."""
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    made = boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
        config=_ONCE,
    )
    if patient:
        made.meta.events.register_first(f"needs-retry.{service}", _soon_again)
    return made


def _soon_again(response: Any, attempts: int, **_: Any) -> float | None:
    """Return seconds before a retry: botocore's back-off outlasts a fast simulator's jobs."""
    parsed = response[1] if response else {}
    throttled = parsed.get("Error", {}).get("Code") == "ThrottlingException"
    return 0.003 if throttled and attempts < 500 else None


def eventually(probe: Callable[[], Any], seconds: float = 120) -> Any:
    """
    Return the first true result of `probe`, which must cover all that the test asserts next.

    Documents become searchable one by one: wait for the last of them, not for any.
    """
    deadline = time.monotonic() + seconds
    while not (answer := probe()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)
    return answer


def refused(call: Callable[..., Any], **parameters: Any) -> dict[str, str]:
    """Return the error of a call that must fail: its `Code` and `Message`."""
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    # Both members are there in every error that AWS answers; its stubs call them optional.
    error: dict[str, str] = caught.value.response["Error"]  # type: ignore[assignment]
    return error


def invalid(call: Callable[..., Any], **parameters: Any) -> str:
    """Return the message of a call that must fail with ValidationException."""
    error = refused(call, **parameters)
    assert error["Code"] == "ValidationException"
    return error["Message"]


def at(knowledge_base: str, data_source: str) -> dict[str, str]:
    """Return the members that name a data source in requests."""
    return {"knowledgeBaseId": knowledge_base, "dataSourceId": data_source}


@dataclass(frozen=True)
class World:
    """Everything a test needs of one simulator; each test makes its own knowledge base."""

    endpoint: str
    s3_endpoint: str
    bucket: str = field(default_factory=lambda: f"docs-{uuid4().hex}")
    patient: bool = False

    def __post_init__(self) -> None:
        self.s3.create_bucket(Bucket=self.bucket)

    def anew(self) -> "World":
        """Return this world with a new bucket."""
        return World(self.endpoint, self.s3_endpoint, patient=self.patient)

    @property
    def s3(self) -> Any:
        return client("s3", self.s3_endpoint)

    @property
    def agent(self) -> Any:
        return client("bedrock-agent", self.endpoint, patient=self.patient)

    @property
    def runtime(self) -> Any:
        return client("bedrock-agent-runtime", self.endpoint, patient=self.patient)

    @property
    def bedrock(self) -> Any:
        return client("bedrock", self.endpoint, patient=self.patient)

    @property
    def bedrock_runtime(self) -> Any:
        return client("bedrock-runtime", self.endpoint, patient=self.patient)

    @property
    def s3vectors(self) -> Any:
        return client("s3vectors", self.endpoint, patient=self.patient)

    def _patient(self, service: str) -> Any:
        """Return a patient client for the set-up of a test."""
        return client(service, self.endpoint, patient=True)

    def put(self, key: str, body: bytes | str, sidecar: object | None = None) -> str:
        """Upload a document, and a sidecar with attributes if given; return its URI."""
        if sidecar is not None:
            text = json.dumps({"metadataAttributes": sidecar}, ensure_ascii=False)
            self.put(f"{key}.metadata.json", text)
        content = body.encode() if isinstance(body, str) else body
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=content)
        return f"s3://{self.bucket}/{key}"

    def drop(self, key: str) -> None:
        self.s3.delete_object(Bucket=self.bucket, Key=key)

    def index(
        self,
        *,
        dimension: int = 1024,
        non_filterable: list[str] | None = None,
        searched: Mapping[str, str | None] | None = None,
        metric: str = "cosine",
    ) -> str:
        """Create an index; `searched` has the language of each searchable key."""
        bucket = f"vectors-{uuid4().hex}"
        self.s3vectors.create_vector_bucket(vectorBucketName=bucket)
        keys = NON_FILTERABLE if non_filterable is None else non_filterable
        configuration: dict[str, Any] = {"nonFilterableMetadataKeys": keys} if keys else {}
        if searched:
            configuration["textSearchConfigurations"] = [
                text_search(key, language) for key, language in searched.items()
            ]
        metadata = {"metadataConfiguration": configuration} if configuration else {}
        created = self.s3vectors.create_index(
            vectorBucketName=bucket,
            indexName="passages",
            dataType="float32",
            dimension=dimension,
            distanceMetric=metric,
            **metadata,
        )
        return str(created["indexArn"])

    def put_vector(
        self, index: str, key: str, values: Sequence[float], /, **metadata: object
    ) -> None:
        vector = {"key": key, "data": {"float32": list(values)}, "metadata": metadata}
        self.s3vectors.put_vectors(indexArn=index, vectors=[vector])

    def query(
        self,
        index: str,
        *,
        vector: Sequence[float] | None = None,
        results: int = 10,
        texts: Mapping[str, str] | None = None,
        **more: Any,
    ) -> list[dict[str, Any]]:
        """Return the vectors that a query finds; `texts` are query texts by metadata key."""
        query: dict[str, Any] = {"indexArn": index, "topK": results, **more}
        if vector is not None:
            query["queryVector"] = {"float32": list(vector)}
        if texts is not None:
            query["queryTexts"] = [{"text": texts[key], "metadataKey": key} for key in texts]
        found: list[dict[str, Any]] = self.s3vectors.query_vectors(**query)["vectors"]
        return found

    def knowledge_base(self, index: str | None = None) -> str:
        request = knowledge_base_request(index or self.index())
        created = self._patient("bedrock-agent").create_knowledge_base(**request)
        return str(created["knowledgeBase"]["knowledgeBaseId"])

    def pair(self, prefix: str = "", **more: Any) -> tuple[str, str]:
        """Create a knowledge base with one data source."""
        knowledge_base = self.knowledge_base()
        return knowledge_base, self.data_source(knowledge_base, prefix, **more)

    def filled(self, **texts: str | tuple[str, object]) -> str:
        """Create a knowledge base with these texts, each in a file of its name."""
        knowledge_base, source = self.pair()
        for name, text in texts.items():
            self.put(f"{name}.txt", *([text] if isinstance(text, str) else text))
        self.sync(knowledge_base, source)
        eventually(lambda: len(self.search(knowledge_base, "text")) == len(texts))
        return knowledge_base

    def data_source(self, knowledge_base: str, prefix: str = "", **more: Any) -> str:
        request = data_source_request(knowledge_base, self.bucket, prefix)
        created = self._patient("bedrock-agent").create_data_source(**{**request, **more})
        return str(created["dataSource"]["dataSourceId"])

    def guardrail(self, **policies: Any) -> str:
        """Create a guardrail with words, or with topics by name."""
        created = self._patient("bedrock").create_guardrail(**guardrail_request(**policies))
        return str(created["guardrailId"])

    def sync(self, knowledge_base: str, data_source: str) -> dict[str, Any]:
        """Run a job to its end and return it."""
        job = self.start(knowledge_base, data_source)
        return self.finished(job)

    def start(self, knowledge_base: str, data_source: str) -> dict[str, Any]:
        """Start a job, retrying while throttled."""

        def started() -> dict[str, Any] | None:
            try:
                answer = self.agent.start_ingestion_job(
                    knowledgeBaseId=knowledge_base, dataSourceId=data_source
                )
            except self.agent.exceptions.ThrottlingException:
                return None
            found: dict[str, Any] = answer["ingestionJob"]
            return found

        job: dict[str, Any] = eventually(started)
        return job

    def job(self, job: dict[str, Any]) -> dict[str, Any]:
        answer = self.agent.get_ingestion_job(
            knowledgeBaseId=job["knowledgeBaseId"],
            dataSourceId=job["dataSourceId"],
            ingestionJobId=job["ingestionJobId"],
        )
        found: dict[str, Any] = answer["ingestionJob"]
        return found

    def finished(self, job: dict[str, Any]) -> dict[str, Any]:
        def over() -> dict[str, Any] | None:
            found = self.job(job)
            return found if found["status"] in ("COMPLETE", "FAILED", "STOPPED") else None

        found: dict[str, Any] = eventually(over)
        return found

    def statuses(self, knowledge_base: str, data_source: str) -> dict[str, str]:
        """Return the documents' statuses by object key."""
        answer = self.agent.list_knowledge_base_documents(
            knowledgeBaseId=knowledge_base, dataSourceId=data_source
        )
        return {
            detail["identifier"]["s3"]["uri"].removeprefix(f"s3://{self.bucket}/"): detail["status"]
            for detail in answer["documentDetails"]
        }

    def search(
        self, knowledge_base: str, text: str, condition: object | None = None, results: int = 100
    ) -> list[dict[str, Any]]:
        search = {"numberOfResults": results, **({"filter": condition} if condition else {})}
        answer = self.runtime.retrieve(
            knowledgeBaseId=knowledge_base,
            retrievalQuery={"text": text},
            retrievalConfiguration={"vectorSearchConfiguration": search},
        )
        found: list[dict[str, Any]] = answer["retrievalResults"]
        return found

    def found_keys(
        self, knowledge_base: str, text: str, condition: object | None = None
    ) -> set[str]:
        """Return the object keys of the documents that a search finds."""
        return {
            result["location"]["s3Location"]["uri"].removeprefix(f"s3://{self.bucket}/")
            for result in self.search(knowledge_base, text, condition)
        }


def text_search(key: str, language: str | None = None) -> dict[str, str]:
    return {"metadataKey": key, **({"language": language} if language else {})}


def knowledge_base_request(index: str, name: str | None = None) -> dict[str, Any]:
    return {
        "name": name or f"kb-{uuid4().hex}",
        "roleArn": ROLE,
        "knowledgeBaseConfiguration": {
            "type": "VECTOR",
            "vectorKnowledgeBaseConfiguration": {"embeddingModelArn": TITAN},
        },
        "storageConfiguration": {
            "type": "S3_VECTORS",
            "s3VectorsConfiguration": {"indexArn": index},
        },
    }


def guardrail_request(
    *, words: Sequence[str] = (), topics: Mapping[str, Topic] | None = None, name: str = ""
) -> dict[str, Any]:
    request: dict[str, Any] = {
        "name": name or f"guardrail-{uuid4().hex}",
        "blockedInputMessaging": "That question is not for this assistant.",
        "blockedOutputsMessaging": "That answer is not for you.",
    }
    if words:
        request["wordPolicyConfig"] = {"wordsConfig": [{"text": word} for word in words]}
    if topics:
        denied = [
            {"name": name, "definition": definition, "examples": list(examples), "type": "DENY"}
            for name, (definition, examples) in topics.items()
        ]
        request["topicPolicyConfig"] = {"topicsConfig": denied}
    return request


def data_source_request(knowledge_base: str, bucket: str, prefix: str = "") -> dict[str, Any]:
    s3: dict[str, Any] = {"bucketArn": f"arn:aws:s3:::{bucket}"}
    if prefix:
        s3["inclusionPrefixes"] = [prefix]
    return {
        "knowledgeBaseId": knowledge_base,
        "name": f"ds-{uuid4().hex}",
        "dataSourceConfiguration": {"type": "S3", "s3Configuration": s3},
    }


def inline(identifier: str, text: str, **attributes: str) -> dict[str, Any]:
    """Return a document of a direct request with inline text and attributes."""
    custom = {
        "customDocumentIdentifier": {"id": identifier},
        "sourceType": "IN_LINE",
        "inlineContent": {"type": "TEXT", "textContent": {"data": text}},
    }
    return {
        "content": {"dataSourceType": "CUSTOM", "custom": custom},
        "metadata": {
            "type": "IN_LINE_ATTRIBUTE",
            "inlineAttributes": [
                {"key": key, "value": {"type": "STRING", "stringValue": value}}
                for key, value in attributes.items()
            ],
        },
    }


def by_location(identifier: str, uri: str, **attributes: str) -> dict[str, Any]:
    """Return a document of a direct request with its text in an object."""
    document = inline(identifier, "", **attributes)
    content = document["content"]["custom"]
    content |= {"sourceType": "S3_LOCATION", "s3Location": {"uri": uri}}
    del content["inlineContent"]
    return document


def fixed(tokens: int, overlap: int) -> dict[str, Any]:
    return {
        "chunkingStrategy": "FIXED_SIZE",
        "fixedSizeChunkingConfiguration": {"maxTokens": tokens, "overlapPercentage": overlap},
    }


class HandClock(Clock):
    """A clock that a test advances."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def elapsed(self) -> float:
        return self.seconds
