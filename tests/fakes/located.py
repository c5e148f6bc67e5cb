"""Direct calls at S3 data sources, in memory: documents go by the URIs of their objects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stackroom.errors import DataSourceNotSynced, DocumentsRefused
from stackroom.model import DataSource
from stackroom.ports.ingestion import Busy, DocumentDetail, Submission
from tests.fakes.bedrock import FakeBedrock

_LONGEST = len("s3://") + 128  # [API model bedrock-agent: S3BucketUri]


@dataclass(frozen=True)
class FakeLocatedDocuments:
    bedrock: FakeBedrock

    def takes(self, uri: str) -> bool:
        return len(uri) <= _LONGEST

    def at(self, uris: Mapping[str, str]) -> "DocumentsAt":
        assert all(map(self.takes, uris.values())), "a longer URI names no document of a call"
        return DocumentsAt(self.bedrock, uris)


@dataclass(frozen=True)
class DocumentsAt:
    bedrock: FakeBedrock
    uris: Mapping[str, str]

    def ingest(
        self, source: DataSource, documents: Sequence[Submission], *, token: str
    ) -> dict[str, DocumentDetail] | Busy:
        if self.bedrock.unwelcome.intersection(each.document_id for each in documents):
            raise DocumentsRefused("a member must satisfy a pattern")
        self._begin(source)
        named = [replace(each, document_id=self.uris[each.document_id]) for each in documents]
        return self._by_id(self.bedrock.ingest(source, named, token=token))

    def delete(
        self, source: DataSource, document_ids: Sequence[str], *, token: str
    ) -> dict[str, DocumentDetail] | Busy:
        self._begin(source)
        named = [self.uris[each] for each in document_ids]
        return self._by_id(self.bedrock.delete(source, named, token=token))

    def details(self, source: DataSource, document_ids: Iterable[str]) -> dict[str, DocumentDetail]:
        self._begin(source)
        found = self.bedrock.details(source, [self.uris[each] for each in document_ids])
        return {self.bedrock.id_of(uri): detail for uri, detail in found.items()}

    def _begin(self, source: DataSource) -> None:
        if not self.bedrock.is_synced(source):
            raise DataSourceNotSynced(source.data_source_id)
        self.bedrock.name(source, self.uris)

    def _by_id(self, answer: dict[str, DocumentDetail] | Busy) -> dict[str, DocumentDetail] | Busy:
        if isinstance(answer, Busy):
            return answer
        return {self.bedrock.id_of(uri): detail for uri, detail in answer.items()}
