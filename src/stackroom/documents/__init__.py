"""What is kept of files and catalogs: records, keys, formats, and who is asked for them."""
