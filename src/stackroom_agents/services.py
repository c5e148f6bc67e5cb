"""The use cases behind the tools; `stackroom.aws.use_cases` makes each when it is first used."""

from typing import Protocol

from stackroom.catalog_tools.services import Services
from stackroom.retrieval.search import Retrieval


class SearchServices(Protocol):
    @property
    def retrieval(self) -> Retrieval: ...


class AgentServices(Services, SearchServices, Protocol):
    """Of all eleven tools."""
