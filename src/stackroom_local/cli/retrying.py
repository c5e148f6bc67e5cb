"""retry: another try for what failed."""

from pathlib import Path

from rich.markup import escape

from stackroom.errors import ValidationError
from stackroom.keys import is_unplaced
from stackroom_local.cli.asking import checked
from stackroom_local.cli.choosing import Choosing
from stackroom_local.cli.console import console
from stackroom_local.cli.foreign import one_line
from stackroom_local.problems import LocalModeError
from stackroom_local.product import Product
from stackroom_local.state import StateDirectory


def retry(state_dir: Path, targets: list[str], *, user: str, catalog: str | None) -> None:
    """Of the targets, or of a catalog, or of all the user's catalogs."""
    product, out = Product(StateDirectory(state_dir).instance()), console()
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
    again = refused = 0
    for catalog_id, document_ids in wanted.items():
        retried = product.use_cases.retrying.retry(user, catalog_id, document_ids)
        again += len(retried.again)
        refused += len(retried.refused)
        for document in retried.again:
            out.print(escape(f"trying again  {one_line(document.s3_key)}"))
        for document, why_not in retried.refused:
            out.print(
                escape(one_line(f"not again     {document.s3_key}: {why_not}")), style="yellow"
            )
    out.print(f"{again} tried again, {refused} not; see: stackroom status --user {user}")
    if refused and targets:
        raise LocalModeError(f"{refused} of {again + refused} are not tried again; see above")
    if not again:
        raise LocalModeError(f"nothing is tried again{'; see above' if refused else ''}")
