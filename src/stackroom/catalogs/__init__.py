"""
An owner's work with catalogs: create them, list them, send files into them, fetch files back, and
delete them. Also an operator's view of all catalogs.

- creation, listing, selection: catalogs themselves
- transfers: their files, sent and fetched by the call itself or by a link, and the port of that
- progress: each document's progress
- deletions: the object goes at once, and with it all that its event would set off; a receipt tells
  when no search finds the document any more. A catalog is emptied key by key, with its records
- feedback: feedback on answers, kept for its user
- overview: for operators: the backlog and its reasons, the knowledge bases, figures
- changes, event_log, publishing, webhooks: a change in the tables' streams becomes an event in its
  owner's log, on EventBridge and at webhooks (functions/event_publisher); nothing in the pipeline
  announces anything

Imports uploads (document names and attributes) and runs (estimates). Its callers are the catalog
tools and the console. Asking is the package search.
"""
