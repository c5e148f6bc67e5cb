"""Steps of what goes: a deletion to its receipt, and that all agree about what is left."""

import time

from stackroom.ingestion.bedrock_evidence import REMOVAL_DEADLINE
from stackroom.model import Receipt
from stackroom.reconciler.discrepancies import Kind
from stackroom_local.cli.console import console
from stackroom_local.cli.reconciling import compared
from stackroom_local.smoke.asking import names_found
from stackroom_local.smoke.files import OF_TEXT, TEXT
from stackroom_local.smoke.scene import Finding, Scene, StepFailed, Told, Verdict

_RECEIPT_SECONDS = 180.0  # of a run of five minutes


def deletion(scene: Scene) -> Told:
    document = scene.documents()[TEXT]
    began = time.monotonic()
    scene.owner.tools.call(
        "delete_catalog_document",
        catalog_id=scene.catalog_id,
        document_id=document.document_id,
    )
    try:
        scene.until(
            lambda: _closed(scene, document.document_id),
            "the receipt says since when no search finds it",
            seconds=_RECEIPT_SECONDS,
        )
    except StepFailed as error:
        seen = f"{error}, of {REMOVAL_DEADLINE:.0f} that are waited for"
        return Told(seen, (Finding("deletion.searches", Verdict.NOT_SEEN, seen),))
    seconds = scene.measured["deleted to receipt"] = time.monotonic() - began
    if TEXT in names_found(scene, scene.owner, OF_TEXT):
        raise StepFailed("the receipt is closed, and its owner still finds it")
    seen = f"its receipt is closed after {seconds:.1f} s, and a search finds it no more"
    return Told(seen, (Finding.of("deletion.searches", seen, holds=True),))


def _closed(scene: Scene, document_id: str) -> Receipt | None:
    receipts = scene.product.stores.receipts.of_user(scene.owner.user_id)
    of_it = (each for each in receipts if each.document_id == document_id)
    return next((each for each in of_it if each.unsearchable_since is not None), None)


def reconcile(scene: Scene) -> Told:
    """A dry run over all that is there; what is others' is left to `stackroom reconcile`."""
    found = compared(scene.site, console(is_quiet=True), dry_run=True)
    users = (scene.owner.user_id, scene.other.user_id, scene.names.run)
    ours = [each for each in found if any(name in each.what for name in users)]
    if ours:
        raise StepFailed(f"{ours[0].kind.replace('_', ' ')}: {ours[0].what}")
    if any(each.kind is Kind.NOT_COMPARED for each in found):
        raise StepFailed("not all could be compared; see: stackroom reconcile --dry-run")
    others = f"; {len(found)} of others" if found else ""
    return Told(f"bucket, records and index agree about the run's files{others}")
