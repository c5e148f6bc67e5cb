"""
Search the passages that a caller may see, and answer questions from them with citations.

The modules in the order in which a question passes through them:

- search_arguments: the tools as an agent sees them, and the token budget of an answer
- search: which knowledge bases to ask, in parallel, and what of their replies the caller may see
- ranking: the order of the passages, and how near the best of them are to the question
- excerpts: the place of each passage; passages that belong together are joined, repeats dropped
- results: the answer of a tool, within the caller's budget

Used by these:

- linked_retrieval: the same search over knowledge bases that an agent was given
- cited_answers: a model writes an answer from what a search finds, and cites it
- wrappers: knowledge bases that narrow, guard, pace or rerank another
- cached_embeddings: the vectors of questions, kept in case a question is asked again
- question_words: the words of a question in the passages
- index_setup: prepares an index for search by words when it is deployed

Imports access and model. functions/retrieve calls it. It reads catalogs, knowledge bases and place
maps, and writes nothing.
"""
