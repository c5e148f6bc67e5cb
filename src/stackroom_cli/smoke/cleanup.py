"""Removes everything that a run created, by names that follow from the run's id alone."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from uuid import uuid4

from stackroom.errors import CatalogNotFound
from stackroom.model.keys import catalog_id_of
from stackroom.model.records import DataSource, PoolMember
from stackroom.runs.bedrock_calls import NOT_FOUND, Busy
from stackroom_cli.operator_documents import keys_waiting
from stackroom_cli.sites.operator_removals import removals_of
from stackroom_cli.sites.site import Site
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.smoke import scene
from stackroom_cli.smoke.scene import CATALOG, Names, Scene, StepFailed, user_id_of

_PATIENCE = 180.0  # seconds for each part


@dataclass(frozen=True)
class Sweep:
    """Removes what one run created, in reverse order."""

    site: Site
    names: Names

    def all(self) -> Iterator[str]:
        """Remove each part, and yield what is left behind and why. It is safe to repeat."""
        users = (self.names.other, self.names.owner)
        parts: dict[str, Callable[[], None]] = {
            "the data source": self._source,
            "the document that is nobody's": self._document,
            **{f"user {each} with documents": partial(self._user, each) for each in users},
        }
        for what, part in parts.items():
            try:
                part()
            except Exception as error:  # whatever it is, the others must go
                yield f"{what}: {error}"

    def _source(self) -> None:
        there = self._product.use_cases.data_sources
        for home in (member.knowledge_base_id for member in self._pool):
            if (found := there.all(home).get(self.names.source)) is not None:
                self._until(partial(there.remove, home, found), "it is gone")

    def _document(self) -> None:
        for member in self._pool:
            self._until(partial(self._is_out_of, member.shared_source), "it is gone")

    def _is_out_of(self, source: DataSource) -> bool:
        there, name = self._product.use_cases.direct_documents, self.names.source
        if there.details(source, [name])[name].status == NOT_FOUND.status:
            return True
        return not isinstance(there.delete(source, [name], token=str(uuid4())), Busy)

    def _documents(self, name: str) -> None:
        user_id = user_id_of(self.site, name)
        if user_id is None:
            return
        catalogs, catalog_id = self._product.stores.catalogs, catalog_id_of(user_id, CATALOG)
        if catalogs.get(catalog_id) is not None:
            with suppress(StepFailed):  # an event that comes later leaves a sidecar
                self._until(lambda: not keys_waiting(self.site, user_id), "all are taken up")
            removals = removals_of(self._product)
            with suppress(CatalogNotFound):  # another's deletion was the sooner
                while not removals.delete_catalog(user_id, catalog_id).is_asked_for:
                    pass
            self._until(lambda: catalogs.get(catalog_id) is None, "the catalog is gone")
        self._until(partial(self._is_empty, user_id), f"nothing lies below {user_id}/")

    def _is_empty(self, user_id: str) -> bool:
        s3, bucket = self.site.client("s3"), self.site.bucket
        return not s3.list_object_versions(Bucket=bucket, Prefix=f"{user_id}/").get("Versions")

    def _user(self, name: str) -> None:
        """Remove a user after the documents, because without the user nobody knows their owner."""
        self._documents(name)
        scene.remove(self.site, name, self.names.group)

    def _until(self, is_over: Callable[[], bool], what: str) -> None:
        Scene(self.site, self.names).until(is_over, what, seconds=_PATIENCE)

    @cached_property
    def _product(self) -> SiteServices:
        return SiteServices(self.site)

    @property
    def _pool(self) -> tuple[PoolMember, ...]:
        return self._product.use_cases.pool
