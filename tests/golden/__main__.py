"""`make golden`: write the golden files anew."""

from tests.golden.promised import FILES

for path, text in FILES.items():
    path.write_text(text(), "utf-8")
