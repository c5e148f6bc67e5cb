"""A user of a running local mode: puts files, reads their records, and asks as an agent."""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from bedrock_kb_simulator.rules import SEARCHABLE_LAG
from stackroom.clock import utc_now
from stackroom.model.keys import Location, catalog_id_of, locate
from stackroom.model.records import Catalog, CatalogDataSources, Document, DocumentStatus
from stackroom.runs.placement import Placements
from stackroom.runs.run_leases import SharedSources
from stackroom_cli.callers import issuer_of
from stackroom_cli.sites.file_drop import Dropped
from stackroom_cli.sites.site_records import SiteRecords
from stackroom_cli.sites.site_services import SiteServices
from stackroom_client.calls import SEARCH
from stackroom_local.state import Instance
from tests.gateway.mcp_client import call_tool

PATIENCE = 300.0  # of a very busy machine; an idle one takes a thirtieth

T = TypeVar("T")


def eventually(look: Callable[[], T], what: str, *, seconds: float = PATIENCE) -> T:
    """The first truthy answer; fails naming `what` when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}; last: {seen!r}"
        time.sleep(0.1)
    return seen


@dataclass(frozen=True)
class Person:
    instance: Instance
    name: str
    groups: tuple[str, ...] = ()

    def put(
        self, path: str, body: bytes | str, attributes: Mapping[str, str] | None = None
    ) -> Dropped:
        """`path` is what follows the user's prefix: `{catalog}/{filename}`."""
        return put(self.instance, f"{self.name}/{path}", body, attributes)

    def put_all(self, files: Mapping[str, bytes | str]) -> list[Dropped]:
        """All at once, as a folder that is dropped."""
        with ThreadPoolExecutor(8) as uploaders:
            return list(uploaders.map(self.put, files.keys(), files.values()))

    def remove(self, path: str) -> str:
        """Behind a delete marker, whose version id this is."""
        answer = self._s3.delete_object(Bucket=self.instance.bucket, Key=f"{self.name}/{path}")
        return str(answer["VersionId"])

    def records(self) -> dict[str, Document]:
        """Every document of theirs, by key, those that belong to no catalog included."""
        return {each.s3_key: each for each in SiteRecords(self.instance).documents(self.name)}

    def record(self, path: str) -> Document | None:
        return self.records().get(f"{self.name}/{path}")

    def settle(self, dropped: Iterable[Dropped]) -> None:
        """
        Returns once every one of them is indexed or failed in the version that was put, and what
        is indexed can be found too, which is a moment later.
        """
        dropped = list(dropped)

        def unsettled() -> list[str]:
            records = self.records()
            return [
                f"{each.key}: {record.status if (record := records.get(each.key)) else 'nothing'}"
                for each in dropped
                if each.key not in records or not each.covers(records[each.key])
            ]

        deadline = time.monotonic() + PATIENCE
        while left := unsettled():
            assert time.monotonic() < deadline, f"not settled within {PATIENCE:g} s: {left}"
            time.sleep(0.1)
        self._until_searchable()

    def await_unread(self, path: str) -> None:
        def is_unread() -> bool:
            record = self.record(path)
            return record is not None and record.unread

        eventually(is_unread, f"{path} waits to be read")

    def await_status(self, path: str, status: DocumentStatus) -> Document:
        def reached() -> Document | None:
            record = self.record(path)
            return record if record and record.status is status else None

        document = eventually(reached, f"{path} is {status}")
        self._until_searchable()
        assert document is not None, "eventually() returns what is truthy"
        return document

    def await_absence(self, path: str) -> None:
        eventually(lambda: self.record(path) is None, f"{path} has no record")

    def token(self) -> str:
        return issuer_of(self.instance).mint(self.name, groups=self.groups)

    def call(self, **arguments: object) -> dict[str, Any]:
        """The tool's answer, over MCP through the gateway, with this user's token."""
        return dict(call_tool(self.instance.mcp_url, self.token(), SEARCH, arguments))

    def find(self, query: str, **arguments: object) -> list[dict[str, Any]]:
        """The passages, best first."""
        answer = self.call(query=query, top_k=20, **arguments)
        assert answer["success"], answer
        return list(answer["results"])

    def files_found(self, query: str, **arguments: object) -> list[str]:
        """The file of every passage, best first."""
        return [each["source"]["filename"] for each in self.find(query, **arguments)]

    def catalog(self, name: str) -> Catalog:
        found = SiteRecords(self.instance)._stores.catalogs.get(catalog_id_of(self.name, name))
        assert found is not None, f"{self.name} has no catalog {name!r}"
        return found

    def place(self, name: str) -> None:
        """
        Opens a catalog with a data source of its own that ingestion jobs fill, as new ones have it
        only where a deployment has chosen so.
        """
        place = locate(f"{self.name}/{name}/a.txt")
        assert isinstance(place, Location), place
        there, now = SiteServices(self.instance).use_cases, utc_now()
        opened = there.register.open(
            Catalog(
                catalog_id=place.catalog_id,
                user_id=self.name,
                name=name,
                s3_prefix=place.prefix,
                created_at=now,
                updated_at=now,
            )
        )
        by_jobs = {"catalog_data_sources": CatalogDataSources.S3}
        pool = [each.model_copy(update=by_jobs) for each in there.pool]
        placements = Placements(
            catalogs=there.register,
            slots=there.slots,
            data_sources=there.data_sources,
            pool=pool,
            shared=SharedSources(catalogs=there.register, slots=there.slots, pool=pool),
        )
        source, _ = placements.ensure(opened)
        assert not source.is_shared, f"there is no room for a data source of {name}"

    def _until_searchable(self) -> None:
        """Bedrock's passages are found some seconds after their document reads INDEXED."""
        time.sleep(SEARCHABLE_LAG.value / self.instance.speed)

    @property
    def _s3(self) -> Any:
        return self.instance.client("s3")


class Agent:
    """One session of one user, with the catalog tools."""

    def __init__(self, instance: Instance, user: str) -> None:
        self._url = instance.mcp_url
        self._token = issuer_of(instance).mint(user)

    def __call__(self, tool: str, **arguments: object) -> dict[str, Any]:
        answer = call_tool(self._url, self._token, f"catalogs___{tool}", arguments)
        assert isinstance(answer, dict), "a catalog tool answers with an object"
        return answer

    def text(self, tool: str, **arguments: object) -> str:
        return str(self(tool, **arguments)["content"][0]["text"])


def put(
    instance: Instance,
    key: str,
    body: bytes | str,
    attributes: Mapping[str, str] | None = None,
) -> Dropped:
    at = datetime.now(UTC)
    answer = instance.client("s3").put_object(
        Bucket=instance.bucket, Key=key, Body=body, Metadata=dict(attributes or {})
    )
    return Dropped(key, answer["ETag"].strip('"'), answer.get("VersionId"), at)


def logs_of_functions(instance: Instance) -> dict[str, str]:
    """Return the text of each log group of CloudWatch Logs, by its name."""
    logs: Any = instance.client("logs")
    groups = logs.get_paginator("describe_log_groups").paginate()
    names = [each["logGroupName"] for page in groups for each in page["logGroups"]]
    return {
        name: "\n".join(
            each["message"]
            for page in logs.get_paginator("filter_log_events").paginate(logGroupName=name)
            for each in page["events"]
        )
        for name in names
    }
