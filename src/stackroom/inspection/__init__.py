"""
Our own look into an uploaded file: what is wrong with it, and what stands where.

- inspection: one key, from the object to the result that is kept
- document_text: the one text of a file that everything else uses
- context_lines: the lines in it that name file, section and page
- place_map: on which pages, or below which heading, a passage stands
- running_lines: headers, footers and page numbers, told from the text of pages
- extraction/: the text and the headings of each format, read apart from our own process
- toc_detection: what is a table of contents

Imports documents. Comes from: SQS
(functions/inspect), beside the upload handler and never in its way. Goes to: inspection results
(read by ingestion) and place maps (read by search).
"""
