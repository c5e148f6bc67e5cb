"""The use cases behind the console's pages: the catalog tools', and those that only pages show."""

from functools import cached_property

from stackroom.app.tool_builder import ToolBuilder
from stackroom.aws.cloudwatch.cloudwatch_boards import CloudWatchBoards
from stackroom.catalogs.browsing import Browsing
from stackroom.catalogs.overview import Backlogs, Operations, Pool
from stackroom.catalogs.reading import TextReading
from stackroom.search.document_passages import DocumentPassages
from stackroom.text.extraction.apart import read_pages_apart
from stackroom_agents.user_agents.agent_builder import AgentBuilder


class ConsoleServices(ToolBuilder, AgentBuilder):
    @cached_property
    def browsing(self) -> Browsing:
        return Browsing(catalogs=self.register, documents=self.documents, names=self.document_names)

    @cached_property
    def reading(self) -> TextReading:
        return TextReading(
            catalogs=self.catalogs,
            documents=self.documents,
            files=self.files,
            texts=self.texts,
            extract=read_pages_apart,
        )

    @cached_property
    def document_passages(self) -> DocumentPassages:
        return DocumentPassages(
            pool=self.retrieval.pool,
            catalogs=self.catalogs,
            documents=self.documents,
            place_maps=self.texts,
        )

    @cached_property
    def operations(self) -> Operations:
        return Operations(
            backlogs=Backlogs(
                inventory=self.inventory, documents=self.documents, estimates=self.estimates
            ),
            pool=Pool(members=self.pool, slots=self.slots, book=self.admission_book),
            receipts=self.receipts,
            boards=CloudWatchBoards(
                client=self.client("cloudwatch"), name=self.settings.need("dashboard_name")
            ),
            runs=self.executions,
            metering=self.metering,
            pace=self._pace,
        )
