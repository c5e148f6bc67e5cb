"""
Extraction of uploaded files: the text of each, the places in it, and what is wrong or missing.

- inspection: one key, from the object to the result that is kept
- kept_texts: which texts of a document are needed, and the removal of the others
- text_ids: the ids of texts, and the version of the reader that makes them
- document_text: the one text of a file that everything else uses
- context_lines: the lines in it that name file, section and page
- place_map: on which pages, or below which heading, a passage stands
- running_lines: headers, footers and page numbers, told from the text of pages
- extraction/: the text and the headings of each format, read apart from our own process
- toc_detection: tables of contents and indexes

Imports documents. SQS calls it (functions/inspect), beside the upload handler; a document is
ingested once its file was read. It writes the results of inspections, which uploads and ingestion
read, and texts with their places, which Bedrock and search read.
"""
