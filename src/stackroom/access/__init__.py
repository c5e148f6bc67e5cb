"""
Who is asking, and what is theirs: nothing else decides what a caller may see.

- tokens: an access token -> the caller, or why it is refused; the issuer's public keys
- interception: a request to the AgentCore Gateway -> the same with identity headers, or a denial
- identity: these headers -> the caller; without them, nobody
- tenancy: the caller -> the filter of what they may see, and the proof of what came back, by what
  the store tells of its source and never by its attributes; the catalogs that are the caller's
- search_filter_argument: what a caller's own filter demands, only ever added to that
- tool, plain_text: a tool's name, description and arguments; texts without what nobody sees
- access_log: what a call leaves in the log: who used which tool on what, and how it ended

Imports documents. Comes from: the gateway (functions/identity_interceptor) and every function that
answers somebody.
"""
