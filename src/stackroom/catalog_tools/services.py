"""
The use cases behind the tools; `stackroom.aws.use_cases` makes each when it is first used, and
imports its package then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stackroom.catalogs.creation import Creation
    from stackroom.catalogs.fetching import Fetching
    from stackroom.catalogs.listing import Listing
    from stackroom.catalogs.progress import Progress
    from stackroom.catalogs.selection import Selection
    from stackroom.catalogs.sending import Sending
    from stackroom.deletions.deletions import Deletions
    from stackroom.retrieval.cited import CatalogAnswers


class Services(Protocol):
    @property
    def creation(self) -> Creation: ...

    @property
    def listing(self) -> Listing: ...

    @property
    def selection(self) -> Selection: ...

    @property
    def sending(self) -> Sending: ...

    @property
    def fetching(self) -> Fetching: ...

    @property
    def progress(self) -> Progress: ...

    @property
    def answering(self) -> CatalogAnswers: ...

    @property
    def deletions(self) -> Deletions: ...
