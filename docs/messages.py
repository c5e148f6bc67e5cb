"""The texts of the console's pages, as gettext's tools read them."""

from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

CONSOLE = Path(__file__).parents[1] / "src" / "stackroom_console"
MESSAGES = CONSOLE / "messages.pot"
_METHODS = [("static/vendor/**", "ignore"), ("**.py", "python"), ("**.js", "javascript")]
_METHODS += [("templates/**.html", "jinja2.ext:babel_extract")]
_OPTIONS = {"templates/**.html": {"trimmed": "true", "trim_blocks": "true", "silent": "false"}}


def messages() -> str:
    """Return the catalog's template without dates and lines: it changes with the texts alone."""
    catalog = Catalog(charset="utf-8")
    for file, line, text, comments, context in extract_from_dir(CONSOLE, _METHODS, _OPTIONS):
        catalog.add(text, locations=[(file, line)], auto_comments=comments, context=context)
    written = BytesIO()
    write_po(written, catalog, sort_by_file=True, include_lineno=False, omit_header=True, width=0)
    return written.getvalue().decode()
