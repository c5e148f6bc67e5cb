"""
Documents that Bedrock refuses to take at all.

It refuses a call as a whole, so that one such document would keep nine others waiting for ever.
Those of a refused call are sent again, each alone; whatever is refused then is at fault itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from stackroom.errors import DocumentsRefused
from stackroom.model import Document
from stackroom.settlement.verdicts import MAX_ATTEMPTS, Decided, DocumentOutcome, Verdict


@dataclass
class DirectRefusals:
    """Of one round."""

    _alone: list[tuple[Document, DocumentsRefused]] = field(default_factory=list)

    def apart(
        self, documents: Iterable[Document], refusal: DocumentsRefused
    ) -> list[list[Document]]:
        """The calls to send instead of the one that was refused."""
        refused = list(documents)
        if len(refused) > 1:
            return [[each] for each in refused]
        self._alone += [(each, refusal) for each in refused]
        return []

    def decided(self, *, others_were_taken: bool) -> tuple[Decided, list[Document]]:
        """
        A verdict on each that was refused alone; and those that have none yet.

        Where Bedrock took nothing else it may be no document's fault: a later run tries again, and
        the document is at fault if it is refused every time.
        """
        decided, undecided = Decided(), list[Document]()
        for document, refusal in self._alone:
            if others_were_taken or document.attempts >= MAX_ATTEMPTS:
                decided.append((document, _verdict(refusal)))
            else:
                undecided.append(document)
        return decided, undecided


def _verdict(refusal: DocumentsRefused) -> Verdict:
    reason = (
        f"Bedrock refuses the file ({refusal.why}); give it another name or other attributes, and "
        "drop it again"
    )
    return Verdict(outcome=DocumentOutcome.FAILED, reason=reason)
