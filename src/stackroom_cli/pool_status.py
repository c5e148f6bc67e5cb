"""The `status --pool` command: each knowledge base's catalogs, active runs and waiting runs."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import RenderableType
from rich.text import Text

from stackroom.catalogs.overview import MemberStanding, Pool
from stackroom.model.records import Catalog, PoolMember
from stackroom.runs.ledger import Grant, Mode, Waiter
from stackroom.runs.run_leases import shared_worklist
from stackroom_cli.json_output import KnowledgeBaseTold, PoolAnswer
from stackroom_cli.output import Output, table
from stackroom_cli.sites.site import Site
from stackroom_cli.sites.site_records import SiteRecords
from stackroom_cli.sites.site_services import SiteServices

_NAMED = 5
_SHARED_ONE = "the shared data source"  # one run works for all catalogs there


def pool(site: Site, *, output: Output) -> None:
    services, catalogs = SiteServices(site), SiteRecords(site).catalogs()
    if output.is_json:
        output.answer(answer(services, catalogs))
    else:
        output.people.print(overview(services, catalogs))


def answer(services: SiteServices, catalogs: Sequence[Catalog]) -> PoolAnswer:
    standings = _standings(services)
    names = _names(catalogs, [each.member for each in standings])

    def of(each: MemberStanding) -> KnowledgeBaseTold:
        waiters = [waiter for queue in each.waiting.values() for waiter in queue]
        waiters.sort(key=lambda waiter: waiter.since)
        return KnowledgeBaseTold(
            knowledge_base_id=each.member.knowledge_base_id,
            own_sources=sorted(names.get(holder, holder) for holder in each.holders),
            own_sources_taken=len(each.holders),
            own_sources_most=each.most,
            shared=sorted(_sharing(each.member, catalogs, names)),
            running=[names.get(grant.worklist_id, grant.worklist_id) for grant in each.running],
            waiting=[names.get(waiter.worklist_id, waiter.worklist_id) for waiter in waiters],
        )

    return PoolAnswer(knowledge_bases=[of(each) for each in standings])


def overview(services: SiteServices, catalogs: Sequence[Catalog]) -> RenderableType:
    standings = _standings(services)
    names = _names(catalogs, [each.member for each in standings])
    shown = table("Knowledge base", "Own data sources", "Shared data source", "Running", "Waiting")
    for each in standings:
        shown.add_row(
            each.member.knowledge_base_id,
            Text(_own(each, names)),
            Text(_shared(each.member, catalogs, names)),
            Text("\n".join(_running(grant, names) for grant in each.running) or "none"),
            Text(_waiting(each, names)),
        )
    return shown


def _standings(services: SiteServices) -> tuple[MemberStanding, ...]:
    stores = services.stores
    members = services.use_cases.pool
    return Pool(members=members, slots=stores.slots, book=stores.admission_book).read()


def _names(catalogs: Sequence[Catalog], members: Sequence[PoolMember]) -> dict[str, str]:
    names = {each.catalog_id: f"{each.user_id}/{each.name}" for each in catalogs}
    return names | {shared_worklist(each.knowledge_base_id): _SHARED_ONE for each in members}


def _own(standing: MemberStanding, names: dict[str, str]) -> str:
    holders = _listed([names.get(each, each) for each in standing.holders])
    return f"{len(standing.holders)} of {standing.most}{holders}"


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
    what = "a job" if grant.mode is Mode.JOB else f"{grant.slots} direct calls"
    who = names.get(grant.worklist_id, grant.worklist_id)
    return f"{who}: {what}, for {_seconds(grant.granted_at)} s"


def _waiting(standing: MemberStanding, names: dict[str, str]) -> str:
    lines = []
    for mode, what in ((Mode.JOB, "a job"), (Mode.DIRECT, "direct calls")):
        if queue := standing.waiting[mode]:
            lines.append(f"{len(queue)} for {what}, the oldest {_oldest(queue[0], names)}")
    return "\n".join(lines) or "none"


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
