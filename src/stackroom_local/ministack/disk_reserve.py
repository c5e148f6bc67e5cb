"""
Room on the disk for what ministack keeps in memory, and whether it was written down.

ministack writes its tables and queues when it stops, logs what it can't write, and ends well. So a
file of some size takes the room from the start and gives it back before they are written; another
says until then that nothing was.
"""

import os
import shutil
from pathlib import Path
from typing import Any

from stackroom_local.local_errors import NoRoom

RESERVE_BYTES = 64 * 2**20  # of 100 documents ministack wrote 111 KB of tables, 13 KB of queues
# Free beside an upload: for the files beside it, and what others write meanwhile.
SPARE_BYTES = 2**20
# What grows with every call, and nobody misses who starts again: 10 KB a document.
_HISTORIES = frozenset({"cloudwatch", "cloudwatch_logs", "stepfunctions"})


class DiskReserve:
    """In a state directory."""

    def __init__(self, folder: Path) -> None:
        self._reserve = folder / "reserve"
        self._unsaved = folder / "unsaved"
        self._ministack = folder / "ministack"

    @property
    def is_done(self) -> bool:
        return not self._unsaved.exists()

    @property
    def is_short(self) -> bool:
        """Whether no upload is taken."""
        return shutil.disk_usage(self._reserve.parent).free < SPARE_BYTES

    def size(self) -> int:
        """Bytes of the tables and queues that the last stop wrote."""
        files = (self._ministack / f"{each}.json" for each in ("dynamodb", "sqs"))
        return sum(each.stat().st_size for each in files if each.exists())

    def begin(self) -> None:
        """Before ministack starts. Raises `NoRoom`."""
        try:
            self._unsaved.touch()
            # Of what a file system can't compress.
            self._reserve.write_bytes(os.urandom(2**20) * (RESERVE_BYTES // 2**20))
        except OSError as error:
            self._reserve.unlink(missing_ok=True)
            raise NoRoom(self._reserve.parent, RESERVE_BYTES, str(error)) from error

    def install(self) -> None:
        """Into ministack."""
        from ministack import app  # noqa: PLC0415 - in its own process
        from ministack.core import persistence  # noqa: PLC0415 - as above

        save_all, failed = app.save_all, list[str]()
        error = persistence.logger.error

        def note(*told: object) -> None:
            """Of a file that couldn't be written, which is caught and logged."""
            failed.append(str(told))
            error(*told)

        def save(services: Any) -> None:
            self._reserve.unlink(missing_ok=True)
            save_all({name: each for name, each in services.items() if name not in _HISTORIES})
            if not failed:
                self._unsaved.unlink(missing_ok=True)
            save_all({name: each for name, each in services.items() if name in _HISTORIES})

        persistence.logger.error = note
        app.save_all = save
