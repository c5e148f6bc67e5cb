"""The use cases behind the tools; `stackroom.wiring.use_cases` makes each when it is first used."""

from typing import Protocol

from stackroom.catalog_tools.definition import Services
from stackroom.retrieval.search_tool import Searchable


class SearchServices(Protocol):
    """Of Stackroom's own pool, or of the knowledge bases that an agent was given."""

    @property
    def retrieval(self) -> Searchable: ...


class AgentServices(Services, SearchServices, Protocol):
    """Of all eleven tools."""
