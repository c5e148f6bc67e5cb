"""
A question -> the passages that the caller may see, each with its file and page, or an answer of
one catalog that cites them.

A question's way:

- search_tool: arguments in, the tool's response out
- search_arguments: the tools as an agent sees them, and how much text an answer holds
- search: from a question to what was found, over the pool
- fan_out: which knowledge bases to ask, under the filter of what the caller may see, in parallel
- ranking: one order of what was found, how strongly it speaks to the question, whether any does
- excerpts: passages that belong together as one, and nothing twice
- citations: where each stands
- results: what is answered of it, within the caller's budget

And beside it:

- linked_retrieval: the same over knowledge bases that an agent was given
- cited_answers: a model writes from what a search finds, and cites it
- wrappers: knowledge bases in front of others: coalesced, narrowed, guarded, reranked
- rate_limiter: who waits, and who is sent away, where more is asked than is taken
- circuit_breaker: a store that is stuck is asked no more for a while
- cached_embeddings: questions' vectors, kept for when they are asked again
- question_words: the question's words in what was found
- index_setup: an index, made for search by words when it is deployed
- prewarming: questions that keep an index warm

Imports access and documents.
Comes from: the gateway (functions/retrieve). Goes to: the agent. Reads catalogs, knowledge bases
and place maps; writes nothing.
"""
