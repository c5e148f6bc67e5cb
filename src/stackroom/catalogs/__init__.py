"""
What an owner does with catalogs: make one, list them, send files into them, fetch files back,
delete them; and what an operator sees of all of them.

- creation, listing, selection: catalogs themselves
- transfers: their files, sent and fetched by the call itself or by a link, and the port of that
- progress: how far each document is
- deletions: the object goes at once, and with it all that its event would set off; a receipt tells
  when no search finds the document any more. A catalog is emptied key by key, with its records
- feedback: what was said of answers, kept for its user
- overview: for operators: what waits and why, the knowledge bases, figures
- changes, event_log, publishing, webhooks: a change in the tables' streams becomes an event in its
  owner's log, on EventBridge and at webhooks (functions/event_publisher); nothing in the pipeline
  announces anything

Imports uploads (what a document may be called, and carry) and runs (estimates).
Comes from: the catalog tools and the console. Asking is the package search.
"""
