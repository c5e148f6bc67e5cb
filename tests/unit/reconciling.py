"""A pipeline that can be reconciled, and short ways to break it."""

import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from stackroom.concurrency import at_once
from stackroom.model.keys import TextName
from stackroom.model.records import (
    DataSource,
    DataSourceType,
    Document,
    PoolMember,
)
from stackroom.reconciler.audit_rounds import Reconciliation, Rounds
from stackroom.reconciler.audited import Audited
from stackroom.reconciler.bedrock_requests import Patience, RequestPace
from stackroom.reconciler.discrepancies import Discrepancy, Kind
from stackroom.reconciler.mending import Mending
from stackroom.runs.run_leases import shared_worklist
from stackroom.text.document_text import text_of as document_text
from stackroom.text.extraction.page import Page
from tests.fakes.clock import in_turn
from tests.fakes.inspection import FakeInspectionRequests
from tests.fakes.inventory import FakeBookmark, FakeIdParts, FakeInventory
from tests.unit.pipeline import KEY, Pipeline, place_of, text_of

LONG = 600.0  # seconds: nothing is under way any more
SHARED = PoolMember(knowledge_base_id="KB1", data_source_id="SHARED1").shared_source


@dataclass
class Reconciled(Pipeline):
    """`page` bounds the pages of every listing, `capacity` what is held of one at a time."""

    page: int = 2
    capacity: int = 4
    a_second: float = 4.0
    bookmark: FakeBookmark = field(default_factory=FakeBookmark)
    kept_round: FakeBookmark = field(default_factory=FakeBookmark)
    ids: FakeIdParts = field(default_factory=FakeIdParts)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.readings = FakeInspectionRequests()
        self.inventory = FakeInventory(
            bucket=self.bucket,
            catalogs=self.catalogs,
            documents=self.documents,
            texts=self.texts,
            bedrock=self.bedrock,
            pool=self.pool,
            page=self.page,
        )

    def reconciliation(
        self, *, dry_run: bool = False, idle_before: datetime | None = None
    ) -> Reconciliation:
        audited = Audited(
            inventory=self.inventory,
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            leases=self.leases,
            executions=self.executions,
            receipts=self.receipts,
            requests=self.requests,
            caps=self.caps,
            keeping=self.use_cases.text_keeping,
            worklists=self.worklists,
            restart=self.restart,
            mending=Mending(
                uploads=self.uploads,
                documents=self.documents,
                requests=self.requests,
                inspections=self.readings,
                dry_run=dry_run,
                run_parallel=in_turn,
                idle_before=idle_before,
                now=self.clock,
            ),
            book=self.book,
            slots=self.slots,
            data_sources=self.bedrock,
            direct=self.bedrock,
            knowledge_base=lambda _: self.knowledge_base,
            pool=self.pool,
            capacity=self.capacity,
            ids=self.ids,
        )
        return Reconciliation.over(
            audited,
            bookmark=self.bookmark,
            rounds=Rounds(kept=self.kept_round),
            pace=RequestPace(
                a_second=self.a_second,
                sleep=self.clock.pass_by,
                now=lambda: self.clock().timestamp(),
            ),
            patience=Patience(pause=at_once),
        )

    def reconcile(self, *, dry_run: bool = False) -> list[Discrepancy]:
        return list(self.reconciliation(dry_run=dry_run).resume())

    def found(self, *, dry_run: bool = False) -> list[tuple[Kind, str]]:
        """After a while in which nothing happens."""
        self.clock.pass_by(LONG)
        return [(each.kind, each.what) for each in self.reconcile(dry_run=dry_run)]

    def found_between(self) -> list[tuple[Kind, str]]:
        """The same between two rounds."""
        self.clock.pass_by(LONG)
        found = self.reconciliation().check_between_rounds(has_time=lambda: True)
        return [(each.kind, each.what) for each in found]

    def dropped_and_indexed(self, *keys: str) -> None:
        """All of one catalog, and searchable."""
        for key in keys:
            self.drop(key)
        self.index(*keys)
        for key in keys:
            self.is_searchable(key)
        run = self.live_run(self.worklist_of(keys[0]))
        self.executions.ended.add(f"{run.worklist_id}-{run.epoch}")

    def loses(self, *keys: str) -> None:
        """The index has these no more, and nobody has deleted them."""
        for key in keys:
            source = self.source_of(key)
            if source.type is DataSourceType.S3:
                self.bedrock.forget(key)
            else:
                self.bedrock.lose(source, place_of(key).document_id)

    def says(self, key: str, status: str) -> None:
        """From now on, and as of now, the knowledge base says this of the document."""
        source = self.source_of(key)
        if source.type is DataSourceType.S3:
            self.bedrock.say(key, status)
        else:
            self.bedrock.put(source, place_of(key).document_id, status)

    def lives_on(self, source: DataSource, key: str) -> None:
        """The key's catalog is opened there, with this first document."""
        self.clock.pass_by(1)
        self.bucket.upload(key)
        self.uploads.reconcile(key)
        self.catalogs.place(place_of(key).catalog_id, source)

    def forgets_on_shared(self, key: str, *, beside: str) -> str:
        """Drop one of two catalogs from the shared data source's worklist, which is returned."""
        for each in (key, beside):
            self.lives_on(SHARED, each)
            self.requests.ask(place_of(each).catalog_id)
        worklist = shared_worklist(SHARED.knowledge_base_id)
        for entry in self.worklists.entries(worklist, limit=2):
            if entry.catalog_id == place_of(key).catalog_id:
                self.worklists.remove_if_unchanged(worklist, entry)
        return worklist

    def leaves_behind(self, key: str) -> Document:
        """The index has the document still; record, object and sidecar are gone."""
        self.bucket.delete(key)
        self.bucket.remove_sidecar(key)
        return self.forget(key)

    def forget(self, key: str) -> Document:
        """The document's record is lost."""
        document = self.document(key)
        self.documents.remove(document)
        return document

    def change(self, key: str, **changes: object) -> Document:
        """The document's record says something else from now on."""
        document = self.document(key).model_copy(update=changes)
        self.documents.overwrite(document)
        return document

    def keeps_text(self, text_id: str, key: str = KEY) -> TextName:
        """A text of the key's document is written now."""
        name = replace(text_of(place_of(key)), text_id=text_id)
        self.texts.put(name, document_text([Page(number=1, text="text")], "a.txt"))
        return name

    def everything(self) -> Any:
        """Return the contents of every store, for comparison."""
        return copy.deepcopy(
            (
                self.catalogs.kept,
                self.documents.kept,
                self.bucket.objects,
                self.bucket.sidecars,
                self.leases.kept,
                self.executions.started,
                self.slots.kept,
                self.receipts.kept,
                self.book.ledger,
                self.book.places,
                self.texts.kept,
                self.bedrock.held,
                self.bedrock.says,
                self.bedrock.jobs,
                [each.keys for each in self.bedrock.direct_calls],
            )
        )
