"""
A question -> the passages that the caller may see, each with its file and page, or an answer of
one catalog that cites them.

- arguments: the tools as an agent sees them
- scope: which knowledge bases to ask, and for what part of what the caller may see
- asking: asks them in parallel, under the filter of each part
- coalescing: equal questions under way at once, asked once
- rate_limiter, fair_shares: who waits, and who is sent away, where more is asked than is taken
- embeddings: questions' vectors, kept for when they are asked again
- words: the question's words in what was found
- fusion: one order of several
- reranking: puts what was found in the order of a model, where one is configured
- weighing: how strongly each passage speaks to the question, and whether any answers it
- excerpts: passages that belong together as one, and nothing twice
- passages: which of them, and how much of them, fit the agent's context
- results: what is answered of it, within the caller's budget
- search: all of this over the pool, from a question to the answer
- linked: the same over knowledge bases that an agent was given
- citations, place_cache: where each stands
- answers: a model writes from what a search of one catalog finds
- questions: a search and an answer from what it found, for a person
- cited: what an answer is, and how citations and guardrails show in it
- quoting: a model's words, so that they can't be taken for the tool's
- index_setup: an index, made for search by words when it is deployed
- tool: arguments in, the tool's response out

Imports identity, search_filter_argument, tenancy, ports and the gateway's way of describing a tool.
Comes from: the gateway (functions/retrieve). Goes to: the agent. Reads catalogs, knowledge bases
and place maps; writes nothing.
"""
