"""status --pool: each knowledge base with its catalogs, the runs at work and those that wait."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stackroom.capacity import capacity_of
from stackroom.model import Catalog, PoolMember
from stackroom.ports.admission import Grant, Mode, Waiter
from stackroom.runs.worklists import shared_worklist
from stackroom_local.cli.answers import KnowledgeBaseTold, PoolAnswer
from stackroom_local.cli.console import Output
from stackroom_local.product import Product
from stackroom_local.records import Records
from stackroom_local.sites.site import Site

_LOOKED_AT = 1000
_NAMED = 5
_SHARED_ONE = "the shared data source"  # one run works for all catalogs there


def pool(site: Site, *, told: Output) -> None:
    product, catalogs = Product(site), Records(site).catalogs()
    if told.is_json:
        told.answer(answer(product, catalogs))
    else:
        told.people.print(overview(product, catalogs))


def answer(product: Product, catalogs: Sequence[Catalog]) -> PoolAnswer:
    members = product.use_cases.deployment.pool
    names = _names(catalogs, members)
    grants = product.stores.admission_book.read().grants

    def of(member: PoolMember) -> KnowledgeBaseTold:
        knowledge_base_id = member.knowledge_base_id
        holders = product.stores.slots.holders(knowledge_base_id)
        waiters = [each for mode in Mode for each in _queue(product, member, mode)]
        waiters.sort(key=lambda each: each.since)
        return KnowledgeBaseTold(
            knowledge_base_id=knowledge_base_id,
            own_sources=sorted(names.get(each, each) for each in holders),
            own_sources_taken=product.stores.slots.taken(knowledge_base_id),
            own_sources_most=capacity_of(member).own_sources,
            shared=sorted(_sharing(member, catalogs, names)),
            running=[
                names.get(each.worklist_id, each.worklist_id)
                for each in grants
                if each.knowledge_base_id == knowledge_base_id
            ],
            waiting=[names.get(each.worklist_id, each.worklist_id) for each in waiters],
        )

    return PoolAnswer(knowledge_bases=[of(each) for each in members])


def overview(product: Product, catalogs: Sequence[Catalog]) -> RenderableType:
    members = product.use_cases.deployment.pool
    names = _names(catalogs, members)
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


def _names(catalogs: Sequence[Catalog], members: Sequence[PoolMember]) -> dict[str, str]:
    names = {each.catalog_id: f"{each.user_id}/{each.name}" for each in catalogs}
    return names | {shared_worklist(each.knowledge_base_id): _SHARED_ONE for each in members}


def _own(product: Product, member: PoolMember, names: dict[str, str]) -> str:
    holders = product.stores.slots.holders(member.knowledge_base_id)
    taken = product.stores.slots.taken(member.knowledge_base_id)
    lost = f", {taken - len(holders)} of them lost" if taken > len(holders) else ""
    most = capacity_of(member).own_sources
    return f"{taken} of {most}{lost}{_listed([names.get(each, each) for each in holders])}"


def _shared(member: PoolMember, catalogs: Sequence[Catalog], names: dict[str, str]) -> str:
    sharing = _sharing(member, catalogs, names)
    return f"{len(sharing)}{_listed(sharing)}"


def _sharing(member: PoolMember, catalogs: Sequence[Catalog], names: dict[str, str]) -> list[str]:
    return [
        names[each.catalog_id]
        for each in catalogs
        if (source := each.source) is not None
        and source.is_shared
        and source.knowledge_base_id == member.knowledge_base_id
    ]


def _running(grant: Grant, names: dict[str, str]) -> str:
    what = "a job" if grant.mode is Mode.EXCLUSIVE else f"{grant.slots} direct calls"
    who = names.get(grant.worklist_id, grant.worklist_id)
    return f"{who}: {what}, for {_seconds(grant.granted_at)} s"


def _waiting(product: Product, member: PoolMember, names: dict[str, str]) -> str:
    lines = []
    for mode, what in ((Mode.EXCLUSIVE, "a job"), (Mode.SHARED, "direct calls")):
        queue = _queue(product, member, mode)
        if queue:
            lines.append(f"{len(queue)} for {what}, the oldest {_oldest(queue[0], names)}")
    return "\n".join(lines) or "nobody"


def _queue(product: Product, member: PoolMember, mode: Mode) -> Sequence[Waiter]:
    book = product.stores.admission_book
    return book.waiting(member.knowledge_base_id, mode, limit=_LOOKED_AT)


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
