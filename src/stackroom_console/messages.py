"""
The texts of the console's pages, by gettext. `messages.pot`, which `make docs` writes, lists them
all: those of templates, of the modules here and of scripts (static/messages.js). Templates trust a
translation as they trust themselves, for it has markup; what stands in its fields is escaped.

Texts of other packages are shown as they are: reasons of failures, gaps, descriptions of tools. So
are the messages of the JSON API, the sample catalog, the instructions of prompt templates, and the
lines of docs/clients.md.
"""

from gettext import NullTranslations

_translations = NullTranslations()  # English is the only language
gettext = _translations.gettext
ngettext = _translations.ngettext


def N_(message: str) -> str:  # noqa: N802 -- the name that tools of gettext look for
    """Mark the text of a constant, which is translated where a page shows it."""
    return message
