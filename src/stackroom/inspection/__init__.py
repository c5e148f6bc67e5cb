"""
Our own look into an uploaded file: what is wrong with it, and what stands on which page.

- inspection: one key, from the object to the result that is kept
- page_map: which page a passage of a PDF stands on
- extraction/: the text of each format, read apart from our own process

Imports ports and keys. Comes from: SQS (functions/inspect), beside the upload handler and never in
its way. Goes to: inspection results (read by settlement) and page maps (read by retrieval).
"""
