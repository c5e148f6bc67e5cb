"""What the designs that we are compared with share: one S3 data source over the whole bucket."""

import json

from benchmarks.simulated_time.account import Account
from benchmarks.stores import Bucket


def whole_bucket(account: Account) -> dict[str, str]:
    """A knowledge base with that data source: the ids that calls of Bedrock take."""
    knowledge_base_id, _ = account.knowledge_base()
    account.hub.run(until=account.hub.time + 5)
    made = account.client("bedrock-agent", unpaced=True).create_data_source(
        knowledgeBaseId=knowledge_base_id,
        name="everything",
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": "arn:aws:s3:::docs"},
        },
    )
    return {
        "knowledgeBaseId": knowledge_base_id,
        "dataSourceId": made["dataSource"]["dataSourceId"],
    }


def write_sidecar(account: Account, bucket: Bucket, key: str) -> None:
    """It says whose the document is; its key is its id."""
    account.bill.add("s3 puts", 1)
    account.pace.spend(0.04)
    attributes = {"user_id": key.partition("/")[0], "document_id": key}
    bucket.write_sidecar(key, json.dumps({"metadataAttributes": attributes}).encode())


def write_record(account: Account) -> None:
    account.bill.add("dynamodb writes", 1)
    account.pace.spend(0.012)
