"""
Room on the disk for the state that ministack keeps in memory, and whether that was written.

ministack writes its tables and queues when it stops, and ends well even if it can't write them. So
a file takes the room from the start and frees it before they are written; another one exists until
they are.
"""

import os
from pathlib import Path
from typing import Any

from stackroom_local.local_errors import NoRoom

RESERVE_BYTES = 64 * 2**20  # of 100 documents ministack wrote 111 KB of tables, 13 KB of queues
# Free beside an upload: for the files beside it, and what others write meanwhile.
SPARE_BYTES = 2**20
# What grows with every call, and nobody misses who starts again: 10 KB a document.
_HISTORIES = frozenset({"cloudwatch", "cloudwatch_logs", "stepfunctions"})


class DiskReserve:
    """The reserve of a state directory."""

    def __init__(self, folder: Path) -> None:
        self._reserve = folder / "reserve"
        self._unsaved = folder / "unsaved"

    @property
    def is_done(self) -> bool:
        return not self._unsaved.exists()

    def begin(self) -> None:
        """Take the room, before ministack starts. Raises `NoRoom`."""
        try:
            self._unsaved.touch()
            # Of what a file system can't compress.
            self._reserve.write_bytes(os.urandom(2**20) * (RESERVE_BYTES // 2**20))
        except OSError as error:
            self._reserve.unlink(missing_ok=True)
            raise NoRoom(self._reserve.parent, RESERVE_BYTES, str(error)) from error

    def install(self) -> None:
        """Have ministack free the room when it stops, and record whether it wrote everything."""
        from ministack import app  # noqa: PLC0415 - in its own process
        from ministack.core import persistence  # noqa: PLC0415 - as above

        save_all, failed = app.save_all, list[str]()
        error = persistence.logger.error

        def note(*arguments: object) -> None:
            """Remember a file that could not be written; ministack only logs such an error."""
            failed.append(str(arguments))
            error(*arguments)

        def save(services: Any) -> None:
            self._reserve.unlink(missing_ok=True)
            save_all({name: each for name, each in services.items() if name not in _HISTORIES})
            if not failed:
                self._unsaved.unlink(missing_ok=True)
            save_all({name: each for name, each in services.items() if name in _HISTORIES})

        persistence.logger.error = note
        app.save_all = save
