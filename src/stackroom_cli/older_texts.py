"""The `reread` command, and the rereading of a directory that an earlier version wrote."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError as Malformed
from rich.markup import escape

from stackroom.errors import CatalogNotFound
from stackroom.model.records import Catalog, Document
from stackroom.text.text_ids import reader_of
from stackroom.tools.texts import counted
from stackroom_cli.callers import checked
from stackroom_cli.document_lookup import DocumentLookup
from stackroom_cli.json_output import NotAgain, RereadAnswer
from stackroom_cli.operator_documents import tell_reasons
from stackroom_cli.output import Output, counting
from stackroom_cli.sites.site import Site
from stackroom_cli.sites.site_records import UNREADABLE, SiteRecords
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.untrusted_text import one_line
from stackroom_local.local_errors import LocalModeError, command
from stackroom_local.state import Instance, StateDirectory
from stackroom_local.supervisor import Announce


@dataclass(frozen=True)
class _Wanted:
    """Documents of one catalog; without ids, all that need to be read again."""

    user_id: str
    catalog_id: str
    prefix: str
    count: int  # of those that are looked at, about
    document_ids: tuple[str, ...] | None = None

    @classmethod
    def all_of(cls, catalog: Catalog) -> "_Wanted":
        return cls(catalog.user_id, catalog.catalog_id, catalog.s3_prefix, catalog.document_count)


@dataclass(frozen=True)
class _Part:
    again: tuple[Document, ...] = ()
    refused: tuple[NotAgain, ...] = ()
    examined: int = 0


def reread(
    site: Site, targets: list[str], *, user: str | None, catalog: str | None, output: Output
) -> None:
    """
    Reread the targets, or what needs it in a catalog, in a user's catalogs, or in everybody's.
    """
    services, out = SiteServices(site), output.people
    wanted = _wanted(services, targets, user=user, catalog=catalog)
    again, refused, examined = list[str](), list[NotAgain](), 0
    with counting(out, "documents", sum(each.count for each in wanted)) as advance:
        for part in _parts(services, wanted):
            again += [each.s3_key for each in part.again]
            refused += part.refused
            for document in part.again:
                out.print(escape(f"rereading  {one_line(document.s3_key)}"))
            advance(examined := examined + part.examined)
    reasons = ((each.key, each.reason) for each in refused)
    tell_reasons(out, "not reread", reasons, style="yellow")
    out.print(f"{len(again)} being reread, {len(refused)} refused; see: stackroom status")
    output.answer(RereadAnswer(again=again, refused=refused))
    if refused and targets:
        raise LocalModeError(
            f"{len(refused)} of {len(again) + len(refused)} were not reread; see above"
        )
    if not again:
        why = "see above" if refused else "every text is up to date"
        raise LocalModeError(f"nothing was reread; {why}")


def _wanted(
    services: SiteServices, targets: Sequence[str], *, user: str | None, catalog: str | None
) -> list[_Wanted]:
    choosing = DocumentLookup.among(services)
    if user is not None:
        checked(user)
    if targets:
        chosen = choosing.by_catalog(targets, user=user, catalog=catalog)
        return [_named(catalog_id, found) for catalog_id, found in chosen.items()]
    if catalog is not None:
        return [_Wanted.all_of(choosing.catalog(user, catalog))]
    if user is not None:
        return [_Wanted.all_of(each) for each in services.stores.catalogs.of_user(user)]
    return [_Wanted.all_of(each) for each in SiteRecords(services.site).catalogs()]


def _named(catalog_id: str, documents: Sequence[Document]) -> _Wanted:
    key = documents[0].s3_key
    ids = tuple(each.document_id for each in documents)
    return _Wanted(key.partition("/")[0], catalog_id, key, len(ids), ids)


def _parts(services: SiteServices, wanted: Iterable[_Wanted]) -> Iterator[_Part]:
    """
    Reread catalog by catalog. A catalog is refused as a whole if it is gone or has a malformed
    record.
    """
    for each in wanted:
        try:
            rereading = services.rereading
            for part in rereading.reread(each.user_id, each.catalog_id, each.document_ids):
                refused = tuple(NotAgain(key=one.s3_key, reason=why) for one, why in part.refused)
                yield _Part(part.again, refused, part.examined)
        except Malformed:
            yield _Part(refused=(NotAgain(key=each.prefix, reason=UNREADABLE),))
        except CatalogNotFound as gone:
            yield _Part(refused=(NotAgain(key=each.prefix, reason=str(gone)),))


# A state directory whose documents another version of ours has read.


def read_anew_at_start(
    state: StateDirectory, instance: Instance, *, announce: Announce
) -> Iterator[None]:
    """
    Request that documents of an earlier version are reread, step by step while it serves.

    After a stop, the next start continues.
    """
    try:
        yield from _steps(state, SiteServices(instance), announce)
    except Exception as error:  # whatever it is, what is served goes on
        announce(one_line(f"rereading failed and is retried at the next start: {error}"))


def _steps(state: StateDirectory, services: SiteServices, announce: Announce) -> Iterator[None]:
    wanted = [_Wanted.all_of(each) for each in SiteRecords(services.site).catalogs()]
    again = refused = 0
    for part in _parts(services, wanted):
        again, refused = again + len(part.again), refused + len(part.refused)
        yield
    state.record_reader(reader_of(services.ocr))
    if again:
        announce(f"rereading {counted(again, 'document')} from an earlier version")
    if refused:
        announce(f"not rereading {counted(refused, 'document')}; `{command()} reread` says why")
