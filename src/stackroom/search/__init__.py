"""
A question -> the passages that the caller may see, each with its file and page, or an answer of
one catalog that cites them.

A question's way:

- search_arguments: the tools as an agent sees them, and how much text an answer holds
- search: which knowledge bases to ask, in parallel, and what of their replies the caller may see
- ranking: one order of what was found, and how near the best of it is to the question
- excerpts: where each passage stands; those that belong together as one, and nothing twice
- results: what is answered of it, within the caller's budget, as the tools tell it

And beside it:

- linked_retrieval: the same over knowledge bases that an agent was given
- cited_answers: a model writes from what a search finds, and cites it
- wrappers: knowledge bases in front of others: narrowed, guarded, reranked
- rate_limiter: who waits, and who is sent away, where more is asked than is taken
- cached_embeddings: questions' vectors, kept for when they are asked again
- question_words: the question's words in what was found
- index_setup: an index, made for search by words when it is deployed

Imports access and documents.
Comes from: the gateway (functions/retrieve). Goes to: the agent. Reads catalogs, knowledge bases
and place maps; writes nothing.
"""
