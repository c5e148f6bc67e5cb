"""The use cases behind the catalog tools."""

from functools import cached_property

from stackroom.app.function_settings import LimitSettings, SettingMissing
from stackroom.app.search_builder import SearchBuilder
from stackroom.app.upload_builder import UploadBuilder
from stackroom.aws.dynamodb.event_records import DynamoEvents
from stackroom.aws.dynamodb.user_records import DynamoFeedback, DynamoSelections
from stackroom.aws.s3.presigned_transfers import S3Transfers
from stackroom.catalogs.creation import Creation
from stackroom.catalogs.event_log import EventLog
from stackroom.catalogs.feedback import FeedbackKeeping
from stackroom.catalogs.listing import Listing
from stackroom.catalogs.metering import Metering
from stackroom.catalogs.progress import Progress
from stackroom.catalogs.selection import Selection
from stackroom.catalogs.transfers import Fetching, Sending
from stackroom.runs.estimates import Estimates
from stackroom.runs.retries import Retrying


class ToolBuilder(SearchBuilder, UploadBuilder):
    @cached_property
    def transfers(self) -> S3Transfers:
        return S3Transfers(client=self.client("s3"), bucket=self._bucket_name)

    @cached_property
    def creation(self) -> Creation:
        return Creation(catalogs=self.register)

    @cached_property
    def listing(self) -> Listing:
        return Listing(catalogs=self.register, pages=self.documents)

    @cached_property
    def selection(self) -> Selection:
        selections = DynamoSelections(client=self._dynamodb, table=self._control_table)
        return Selection(catalogs=self.catalogs, selections=selections)

    @cached_property
    def sending(self) -> Sending:
        return Sending(
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            transfers=self.transfers,
        )

    @cached_property
    def fetching(self) -> Fetching:
        return Fetching(catalogs=self.catalogs, documents=self.documents, transfers=self.transfers)

    @cached_property
    def retrying(self) -> Retrying:
        return Retrying(catalogs=self.catalogs, documents=self.documents, requests=self.requests)

    @cached_property
    def progress(self) -> Progress:
        return Progress(catalogs=self.catalogs, estimates=self.estimates)

    @cached_property
    def estimates(self) -> Estimates:
        if not isinstance(self.settings, LimitSettings):
            raise SettingMissing("admission_jobs", self.settings)
        return Estimates(
            documents=self.documents,
            leases=self.leases,
            book=self.admission_book,
            worklists=self.worklists,
            limits=self.settings.limits,
            pace=self._pace,
        )

    @cached_property
    def feedback(self) -> FeedbackKeeping:
        book = DynamoFeedback(client=self._dynamodb, table=self._control_table)
        return FeedbackKeeping(catalogs=self.catalogs, book=book)

    @cached_property
    def metering(self) -> Metering:
        return Metering(usage=self.usage, book=self.caps, catalogs=self.register)

    @cached_property
    def events(self) -> EventLog:
        book = DynamoEvents(client=self._dynamodb, table=self._control_table)
        return EventLog(book=book)
