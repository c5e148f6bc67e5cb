"""The audit line of each call, by Python's logging."""

import logging

from stackroom.gateway.access import EVENT, Access

logger = logging.getLogger(__name__)


def report(access: Access) -> None:
    """The line that the function behind the gateway writes: its values are the record's fields."""
    logger.info(EVENT, extra=access.fields())
