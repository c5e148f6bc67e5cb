"""One file on its way from PutObject to being found, and what happened to it when."""

import asyncio
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchmarks.serving import Agent, NotMeasured
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogs
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.documents.keys import catalog_id_of, document_id_of
from stackroom.documents.model import DocumentStatus
from stackroom.runs.run_leases import shared_worklist
from stackroom_local.state import Instance

USER = "bench"
_LOOK_SECONDS = 0.03  # between two looks at the record, and between two searches
_PATIENCE = 60.0

Moments = dict[str, float]  # what had happened by when, in seconds


@dataclass(frozen=True)
class Drop:
    moments: Moments

    @property
    def seconds(self) -> float:
        return self.moments["searchable"]


async def drop(instance: Instance, agent: Agent, catalog: str, number: int) -> Drop:
    """One file, and a wait until its run is over: the next one shall find nothing in its way."""
    phrase = f"marker {catalog} {number} {os.urandom(4).hex()}"
    key = f"{USER}/{catalog}/note-{number}.txt"
    body = f"Note {number} of {catalog}.\nThe phrase to be found is: {phrase}.\n"
    began = time.time()
    watching = asyncio.create_task(asyncio.to_thread(watch, instance, catalog, number, began))
    instance.client("s3").put_object(Bucket=instance.bucket, Key=key, Body=body.encode())
    put = time.time() - began
    searchable = await search(agent, phrase, began)
    seen = await watching
    states = await asyncio.to_thread(run_of, instance, catalog, began)
    return Drop({"put": put, **seen, "searchable": searchable, **states})


async def search(agent: Agent, phrase: str, began: float) -> float:
    while time.time() - began < _PATIENCE:
        answer = await agent.search(query=phrase, top_k=5)
        if any(phrase in each["content"] for each in answer["results"]):
            return time.time() - began
        await asyncio.sleep(_LOOK_SECONDS)
    raise NotMeasured(f"{phrase!r} was not found within {_PATIENCE:g} s")


def watch(instance: Instance, catalog: str, number: int, began: float) -> Moments:
    """When the record was first seen in each status, until it is indexed."""
    documents = DynamoDocuments(client=instance.client("dynamodb"), table=instance.catalog_table)
    catalog_id = catalog_id_of(USER, catalog)
    document_id = document_id_of(catalog_id, f"note-{number}.txt")
    seen: Moments = {}
    while time.time() - began < _PATIENCE:
        document = documents.get(catalog_id, document_id)
        if document is not None:
            seen.setdefault(document.status.value, time.time() - began)
            if document.status is DocumentStatus.FAILED:
                raise NotMeasured(f"{document.s3_key} failed: {document.status_reason}")
            if document.status is DocumentStatus.INDEXED:
                return seen
        time.sleep(_LOOK_SECONDS)
    raise NotMeasured(f"a document of {catalog} was not indexed within {_PATIENCE:g} s: {seen}")


def run_of(instance: Instance, catalog: str, began: float) -> Moments:
    """When the latest execution of its data source entered each state, once it is over."""
    stepfunctions = instance.client("stepfunctions")
    [machine] = stepfunctions.list_state_machines()["stateMachines"]
    arn = machine["stateMachineArn"]
    prefix = f"{_worklist_of(instance, catalog)}-"
    while time.time() - began < _PATIENCE:
        executions = [
            each
            for each in stepfunctions.list_executions(stateMachineArn=arn)["executions"]
            if each["name"].startswith(prefix)
        ]
        if executions and all(each["status"] != "RUNNING" for each in executions):
            latest = max(executions, key=lambda each: each["startDate"])
            events = stepfunctions.get_execution_history(
                executionArn=latest["executionArn"], maxResults=1000
            )["events"]
            return dict(entered(events, began))
        time.sleep(_LOOK_SECONDS)
    raise NotMeasured(f"no execution of {prefix}* was over within {_PATIENCE:g} s")


def _worklist_of(instance: Instance, catalog: str) -> str:
    """The catalog itself, or, where it has no data source of its own, all that share one."""
    catalogs = DynamoCatalogs(client=instance.client("dynamodb"), table=instance.catalog_table)
    found = catalogs.get(catalog_id_of(USER, catalog))
    assert found is not None, "a document of it is indexed"
    assert found.source is not None, "and in an index"
    is_shared = found.source.is_shared
    return shared_worklist(found.source.knowledge_base_id) if is_shared else found.catalog_id


def entered(events: Iterable[dict[str, Any]], began: float) -> Iterable[tuple[str, float]]:
    for event in events:
        at: datetime = event["timestamp"]
        if details := event.get("stateEnteredEventDetails"):
            yield f"{event['id']:>3} {details['name']}", at.timestamp() - began
