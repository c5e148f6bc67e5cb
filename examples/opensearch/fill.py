"""
Make an index in a collection of OpenSearch Serverless, and put passages into it.

    python examples/opensearch/fill.py https://<id>.<region>.aoss.amazonaws.com passages.jsonl

Each line of the file is a passage: {"text": "...", "metadata": {"domain": "finance", "taxonomy":
"GL", "source": "s3://...", "chunk_id": "..."}}. Whoever runs this needs bedrock:InvokeModel of the
model, aoss:APIAccessAll on the collection, and a data access policy of it with aoss:CreateIndex,
aoss:DescribeIndex and aoss:WriteDocument on the index. What was put in is found after about a
minute.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, helpers

from stackroom_stores.opensearch.index_layout import creation

MODEL = "amazon.titan-embed-text-v2:0"
REGION = re.compile(r"\.(?P<region>[a-z0-9-]+)\.aoss\.")


def fill(client: OpenSearch, bedrock: Any, index: str, passages: Path, dimensions: int) -> int:
    """How many passages were put in; the index is made if it isn't there."""
    if not client.indices.exists(index=index):
        client.indices.create(index=index, body=creation(dimensions=dimensions))

    def actions() -> Iterator[dict[str, Any]]:
        with passages.open(encoding="utf-8") as lines:
            for line in lines:
                passage = json.loads(line)
                vector = embedded(bedrock, passage["text"], dimensions)
                # No id of ours: a collection for vectors gives its own.
                yield {**passage, "vector": vector}

    count, _ = helpers.bulk(client, actions(), index=index)
    return int(count)


def embedded(bedrock: Any, text: str, dimensions: int) -> list[float]:
    """Of length one, as the search expects."""
    asked = {"inputText": text, "dimensions": dimensions, "normalize": True}
    answer = bedrock.invoke_model(modelId=MODEL, body=json.dumps(asked))
    vector: list[float] = json.loads(answer["body"].read())["embedding"]
    return vector


def main() -> None:
    parser = argparse.ArgumentParser(description="Put passages into a collection.")
    parser.add_argument("endpoint")
    parser.add_argument("passages", type=Path)
    parser.add_argument("--index", default="knowledge-base")
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--region", default=None, help="of the collection, if its address hides it")
    options = parser.parse_args()
    found = REGION.search(options.endpoint)
    session = boto3.Session(region_name=options.region or (found and found["region"]))
    signed = Urllib3AWSV4SignerAuth(session.get_credentials(), session.region_name, "aoss")
    client = OpenSearch(options.endpoint, http_auth=signed)
    bedrock = session.client("bedrock-runtime")
    count = fill(client, bedrock, options.index, options.passages, options.dimensions)
    print(f"{count} passages are in index {options.index!r}")


if __name__ == "__main__":
    main()
