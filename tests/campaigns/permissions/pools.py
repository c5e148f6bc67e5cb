"""A pool of two knowledge bases, which the local mode's own template does not have."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stackroom_local.clients import client
from stackroom_local.processes import HOST, free_ports, spawn
from stackroom_local.state import Instance


@contextmanager
def gateway_over_two(instance: Instance) -> Iterator[str]:
    """
    The MCP URL of another gateway of the instance, whose functions have a pool of two knowledge
    bases; the second one is empty.
    """
    folder = instance.state_dir / "gateway"
    port = free_ports(1)
    configuration = json.loads((instance.state_dir / "gateway.json").read_text("utf-8"))
    index = _another_index(instance)
    second = _another(instance, index)
    for target in configuration["targets"]:
        variables = target["function"]["environment"]
        if "KB_POOL" in variables:
            [first] = json.loads(variables["KB_POOL"])
            variables["KB_POOL"] = json.dumps([first, {**first, **second}])
    file = folder / "two.json"
    file.write_text(json.dumps(configuration), "utf-8")
    options = ["--port", str(port), "--config", str(file), "--data-dir", str(folder)]
    gateway = spawn(
        "gateway over two",
        [sys.executable, "-m", "stackroom_local.gateway", *options],
        log=folder / "logs" / "two.log",
        environment=instance.environment(),
    )
    try:
        gateway.wait_until_healthy(f"http://{HOST}:{port}/.well-known/oauth-protected-resource")
        yield f"http://{HOST}:{port}/mcp"
    finally:
        gateway.ask_to_stop()
        gateway.end()
        client("s3vectors", instance.simulator_endpoint).delete_index(indexArn=index)


def _another(instance: Instance, index: str) -> Mapping[str, str]:
    """As the first one, over an index of its own, for a knowledge base has one to itself."""
    agent: Any = client("bedrock-agent", instance.simulator_endpoint)
    [known] = agent.list_knowledge_bases()["knowledgeBaseSummaries"]
    first = agent.get_knowledge_base(knowledgeBaseId=known["knowledgeBaseId"])["knowledgeBase"]
    made = agent.create_knowledge_base(
        name="second",
        roleArn=first["roleArn"],
        knowledgeBaseConfiguration=first["knowledgeBaseConfiguration"],
        storageConfiguration={
            **first["storageConfiguration"],
            "s3VectorsConfiguration": {"indexArn": index},
        },
    )["knowledgeBase"]
    return {"knowledge_base_id": made["knowledgeBaseId"], "index": index}


def _another_index(instance: Instance) -> str:
    vectors: Any = client("s3vectors", instance.simulator_endpoint)
    bucket = vectors.list_vector_buckets()["vectorBuckets"][0]["vectorBucketName"]
    name = vectors.list_indexes(vectorBucketName=bucket)["indexes"][0]["indexName"]
    first = vectors.get_index(vectorBucketName=bucket, indexName=name)["index"]
    same = ("dataType", "dimension", "distanceMetric", "metadataConfiguration")
    made = vectors.create_index(
        vectorBucketName=bucket, indexName="second", **{each: first[each] for each in same}
    )
    return str(made["indexArn"])
