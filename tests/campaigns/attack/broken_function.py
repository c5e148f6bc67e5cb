"""
The catalog tools as they would be if nobody asked whose a catalog is.

For a process of its own: whoever imports this is broken with it.
"""

import sys

from stackroom.access import tenancy
from stackroom.errors import CatalogNotFound
from stackroom.model.records import Catalog
from stackroom.model.repositories import Catalogs


def _anybodys(catalogs: Catalogs, user_id: str, catalog_id: str) -> Catalog:
    catalog = catalogs.get(catalog_id)
    if catalog is None:
        raise CatalogNotFound(catalog_id)
    return catalog


# In whatever is imported already, as in a process that was forked.
_asking = tenancy.owned
for _module in [each for name, each in sys.modules.items() if name.startswith("stackroom.")]:
    if vars(_module).get("owned") is _asking:
        vars(_module)["owned"] = _anybodys

from functions.catalog_tools.handler import handler  # noqa: E402 - after it was broken

__all__ = ["handler"]
