"""Builds the use cases that record uploaded files and delete documents and catalogs."""

from functools import cached_property

from stackroom.app.document_builder import DocumentBuilder
from stackroom.catalogs.deletions import Deletions
from stackroom.uploads.reconcile import Uploads


class UploadBuilder(DocumentBuilder):
    @cached_property
    def uploads(self) -> Uploads:
        return Uploads(
            catalogs=self.register,
            documents=self.documents,
            bucket=self.bucket,
            receipts=self.receipts,
            inspections=self.inspections,
            now=self.now,
            pause=self.pause_among_writers,
            run_parallel=self.run_parallel,
        )

    @cached_property
    def deletions(self) -> Deletions:
        return Deletions(
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            receipts=self.receipts,
            uploads=self.uploads,
            requests=self.requests,
            now=self.now,
        )
