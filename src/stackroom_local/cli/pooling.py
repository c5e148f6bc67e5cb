"""status --pool: each knowledge base with its catalogs, the runs at work and those that wait."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stackroom.capacity import capacity_of
from stackroom.model import Catalog, PoolMember
from stackroom.ports.admission import Grant, Mode, Waiter
from stackroom.runs.worklists import shared_worklist
from stackroom_local.cli.console import console
from stackroom_local.product import Product
from stackroom_local.records import Records
from stackroom_local.state import StateDirectory

_LOOKED_AT = 1000
_NAMED = 5
_SHARED_ONE = "the shared data source"  # one run works for all catalogs there


def pool(state_dir: Path) -> None:
    instance = StateDirectory(state_dir).instance()
    product = Product(instance)
    console().print(overview(product, Records(instance).catalogs()))


def overview(product: Product, catalogs: Sequence[Catalog]) -> RenderableType:
    members = product.use_cases.deployment.pool
    names = {each.catalog_id: f"{each.user_id}/{each.name}" for each in catalogs}
    names |= {shared_worklist(each.knowledge_base_id): _SHARED_ONE for each in members}
    grants = product.stores.admission_book.read().grants
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("Knowledge base", "Own data sources", "On the shared one", "Running", "Waiting"):
        table.add_column(column, overflow="fold")
    for member in members:
        here = [each for each in grants if each.knowledge_base_id == member.knowledge_base_id]
        table.add_row(
            member.knowledge_base_id,
            Text(_own(product, member, names)),
            Text(_shared(member, catalogs, names)),
            Text("\n".join(_running(each, names) for each in here) or "nobody"),
            Text(_waiting(product, member, names)),
        )
    return table


def _own(product: Product, member: PoolMember, names: dict[str, str]) -> str:
    holders = product.stores.slots.holders(member.knowledge_base_id)
    taken = product.stores.slots.taken(member.knowledge_base_id)
    lost = f", {taken - len(holders)} of them lost" if taken > len(holders) else ""
    most = capacity_of(member).own_sources
    return f"{taken} of {most}{lost}{_listed([names.get(each, each) for each in holders])}"


def _shared(member: PoolMember, catalogs: Sequence[Catalog], names: dict[str, str]) -> str:
    sharing = [
        names[each.catalog_id]
        for each in catalogs
        if (source := each.source) is not None
        and source.is_shared
        and source.knowledge_base_id == member.knowledge_base_id
    ]
    return f"{len(sharing)}{_listed(sharing)}"


def _running(grant: Grant, names: dict[str, str]) -> str:
    what = "a job" if grant.mode is Mode.EXCLUSIVE else f"{grant.slots} direct calls"
    who = names.get(grant.worklist_id, grant.worklist_id)
    return f"{who}: {what}, for {_seconds(grant.granted_at)} s"


def _waiting(product: Product, member: PoolMember, names: dict[str, str]) -> str:
    lines = []
    for mode, what in ((Mode.EXCLUSIVE, "a job"), (Mode.SHARED, "direct calls")):
        queue = product.stores.admission_book.waiting(
            member.knowledge_base_id, mode, limit=_LOOKED_AT
        )
        if queue:
            lines.append(f"{len(queue)} for {what}, the oldest {_oldest(queue[0], names)}")
    return "\n".join(lines) or "nobody"


def _oldest(waiter: Waiter, names: dict[str, str]) -> str:
    who = names.get(waiter.worklist_id, waiter.worklist_id)
    return f"{who} for {_seconds(waiter.since)} s"


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f": {', '.join(sorted(names)[:_NAMED])}{more}"


def _seconds(since: datetime) -> int:
    return max(0, int((datetime.now(UTC) - since).total_seconds()))
