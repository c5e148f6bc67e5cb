"""
Knowledge bases of the library's simulator, over the same bucket: each made and ingested once.

They stay in the library, which goes when what it was made of changes.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.answers.library import USER
from benchmarks.serving import NotMeasured
from stackroom_local.state import Instance

_MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0"
_ROLE = "arn:aws:iam::000000000000:role/knowledge-base"
_TEXT = "AMAZON_BEDROCK_TEXT"
_OVERLAP = 20  # percent, Bedrock's default [Bedrock user guide: kb-chunking]
_PATIENCE, _LOOK_SECONDS = 3_600.0, 5.0


@dataclass(frozen=True, kw_only=True)
class Home:
    """`index_arn` is None of a managed one, which lets nobody see its index."""

    knowledge_base_id: str
    index_arn: str | None = None


def managed(instance: Instance) -> Home:
    """It reads, cuts and embeds as it likes."""
    connector = {
        "type": "S3",
        "version": "1",
        "connectionConfiguration": {"bucketName": instance.bucket},
        "filterConfiguration": {"inclusionPrefixes": [f"{USER}/"]},
    }
    source = {
        "dataSourceConfiguration": {
            "type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR",
            "managedKnowledgeBaseConnectorConfiguration": {"connectorParameters": connector},
        }
    }
    configuration = {"type": "MANAGED", "managedKnowledgeBaseConfiguration": {}}
    home = _home(instance, "managed", {"knowledgeBaseConfiguration": configuration}, source)
    return Home(knowledge_base_id=home)


def cut_at(instance: Instance, tokens: int) -> Home:
    """One on S3 Vectors, whose chunks have so many tokens at most."""
    name = f"chunks-of-{tokens}"
    index = _index(instance, name)
    source = {
        "dataSourceConfiguration": {
            "type": "S3",
            "s3Configuration": {
                "bucketArn": f"arn:aws:s3:::{instance.bucket}",
                "inclusionPrefixes": [f"{USER}/"],
            },
        },
        "vectorIngestionConfiguration": {
            "chunkingConfiguration": {
                "chunkingStrategy": "FIXED_SIZE",
                "fixedSizeChunkingConfiguration": {
                    "maxTokens": tokens,
                    "overlapPercentage": _OVERLAP,
                },
            }
        },
    }
    configuration = {
        "type": "VECTOR",
        "vectorKnowledgeBaseConfiguration": {"embeddingModelArn": _MODEL},
    }
    storage = {"type": "S3_VECTORS", "s3VectorsConfiguration": {"indexArn": index}}
    asked = {"knowledgeBaseConfiguration": configuration, "storageConfiguration": storage}
    return Home(knowledge_base_id=_home(instance, name, asked, source), index_arn=index)


def _home(
    instance: Instance, name: str, asked: Mapping[str, Any], of_source: Mapping[str, Any]
) -> str:
    agent = instance.client("bedrock-agent")
    known = agent.list_knowledge_bases(maxResults=100)["knowledgeBaseSummaries"]
    found = [each["knowledgeBaseId"] for each in known if each["name"] == name]
    if found:
        home = found[0]
    else:
        made = agent.create_knowledge_base(name=name, roleArn=_ROLE, **asked)
        home = made["knowledgeBase"]["knowledgeBaseId"]
    _wait(
        lambda: agent.get_knowledge_base(knowledgeBaseId=home)["knowledgeBase"]["status"],
        "ACTIVE",
        what=name,
    )
    sources = agent.list_data_sources(knowledgeBaseId=home)["dataSourceSummaries"]
    if sources:
        source = sources[0]["dataSourceId"]
    else:
        made = agent.create_data_source(knowledgeBaseId=home, name="all", **of_source)
        source = made["dataSource"]["dataSourceId"]
    where = {"knowledgeBaseId": home, "dataSourceId": source}
    _wait(lambda: agent.get_data_source(**where)["dataSource"]["status"], "AVAILABLE", what=name)
    _ingest(agent, where, name)
    return str(home)


def _ingest(agent: Any, where: Mapping[str, str], name: str) -> None:
    """Unless a job has ended well already."""
    jobs = agent.list_ingestion_jobs(**where)["ingestionJobSummaries"]
    live = [each for each in jobs if each["status"] != "FAILED"]
    job = live[0] if live else agent.start_ingestion_job(**where)["ingestionJob"]
    found = {**where, "ingestionJobId": job["ingestionJobId"]}
    _wait(
        lambda: agent.get_ingestion_job(**found)["ingestionJob"]["status"],
        "COMPLETE",
        what=f"ingesting, once: {name}",
    )


def _index(instance: Instance, name: str) -> str:
    vectors = instance.client("s3vectors")
    buckets = vectors.list_vector_buckets()["vectorBuckets"]
    if name not in {each["vectorBucketName"] for each in buckets}:
        vectors.create_vector_bucket(vectorBucketName=name)
    known = vectors.list_indexes(vectorBucketName=name)["indexes"]
    if known:
        return str(known[0]["indexArn"])
    # What the types of the client are older than: text search.
    configuration: Any = {
        "nonFilterableMetadataKeys": [_TEXT, "AMAZON_BEDROCK_METADATA"],
        "textSearchConfigurations": [{"metadataKey": _TEXT, "language": "en"}],
    }
    made = vectors.create_index(
        vectorBucketName=name,
        indexName="passages",
        dataType="float32",
        dimension=1024,
        distanceMetric="cosine",
        metadataConfiguration=configuration,
    )
    return str(made["indexArn"])


def _wait(status: Callable[[], str], wanted: str, *, what: str) -> None:
    began = told = time.monotonic()
    while (found := status()) != wanted:
        if found == "FAILED" or time.monotonic() - began > _PATIENCE:
            raise NotMeasured(f"{what}: {found}, not {wanted}")
        if time.monotonic() - told > _LOOK_SECONDS * 2:
            told = time.monotonic()
            print(f"{what}: {found}, {told - began:.0f} s", flush=True)
        time.sleep(min(_LOOK_SECONDS, 0.2 + (time.monotonic() - began) / 10))
