"""retry: another try for what failed."""

from rich.markup import escape

from stackroom.errors import ValidationError
from stackroom.keys import is_unplaced
from stackroom_local.cli.answers import NotAgain, RetryAnswer
from stackroom_local.cli.asking import checked
from stackroom_local.cli.choosing import Choosing
from stackroom_local.cli.console import Output
from stackroom_local.cli.foreign import one_line
from stackroom_local.problems import LocalModeError
from stackroom_local.product import Product
from stackroom_local.sites.site import Site


def retry(site: Site, targets: list[str], *, user: str, catalog: str | None, told: Output) -> None:
    """Of the targets, or of a catalog, or of all the user's catalogs."""
    product, out = Product(site), told.people
    choosing = Choosing.among(product)
    wanted: dict[str, list[str] | None] = {}
    if targets:
        for document in choosing.chosen(targets, user=checked(user), catalog=catalog):
            if is_unplaced(document.catalog_id):
                raise ValidationError(
                    f"{document.s3_key!r} belongs to no catalog: {document.status_reason}"
                )
            named = wanted.setdefault(document.catalog_id, [])
            assert named is not None, "with targets every catalog has its list of documents"
            named.append(document.document_id)
    elif catalog is not None:
        wanted[choosing.catalog(user, catalog).catalog_id] = None
    else:
        wanted = dict.fromkeys(
            each.catalog_id for each in product.stores.catalogs.of_user(checked(user))
        )
    again: list[str] = []
    refused: list[NotAgain] = []
    for catalog_id, document_ids in wanted.items():
        retried = product.use_cases.retrying.retry(user, catalog_id, document_ids)
        again += [each.s3_key for each in retried.again]
        refused += [NotAgain(key=each.s3_key, reason=why) for each, why in retried.refused]
        for document in retried.again:
            out.print(escape(f"trying again  {one_line(document.s3_key)}"))
        for document, why_not in retried.refused:
            out.print(
                escape(one_line(f"not again     {document.s3_key}: {why_not}")), style="yellow"
            )
    out.print(f"{len(again)} tried again, {len(refused)} not; see: stackroom status --user {user}")
    told.answer(RetryAnswer(again=again, refused=refused))
    if refused and targets:
        raise LocalModeError(
            f"{len(refused)} of {len(again) + len(refused)} are not tried again; see above"
        )
    if not again:
        raise LocalModeError(f"nothing is tried again{'; see above' if refused else ''}")
