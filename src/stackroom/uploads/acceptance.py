"""Whether an object can be taken into its catalog, and the sidecar that it then has."""

from stackroom.errors import ValidationError
from stackroom.formats import MAX_FILE_BYTES, unsupported
from stackroom.keys import Location
from stackroom.model import Catalog
from stackroom.ports.bucket import StoredObject
from stackroom.uploads import sidecars

MAX_FILENAME_BYTES = 400  # leaves room for prefix and sidecar suffix in S3's 1,024-byte keys


def judge(place: Location, catalog: Catalog, found: StoredObject) -> tuple[str | None, bytes]:
    """What is wrong with the object, if anything, and the sidecar that it should have."""
    if problem := _file_problem(place.filename, found.size):
        return problem, sidecars.QUARANTINED
    try:
        body = sidecars.sidecar(
            user_id=catalog.user_id,
            catalog_id=catalog.catalog_id,
            document_id=place.document_id,
            filename=place.filename,
            uploaded_at=found.last_modified,
            attributes=sidecars.user_attributes(found.attributes),
        )
    except ValidationError as error:
        return str(error), sidecars.QUARANTINED
    return None, body


def _file_problem(filename: str, size: int) -> str | None:
    length = len(filename.encode())
    if length > MAX_FILENAME_BYTES:
        return f"the file name has {length} bytes; at most {MAX_FILENAME_BYTES} are allowed"
    if problem := unsupported(filename):
        return problem
    if size == 0:
        return "the file is empty"
    if size > MAX_FILE_BYTES:
        return f"File exceeds {MAX_FILE_BYTES // 1024**2}MB limit"
    return None
