"""
Whether the right passage is found, over real documents with questions written for this.

    make bench-answers                     both sets of questions, all ways
    make bench-answers ARGS=--tune         only the set that may be tuned on
    make bench-answers ARGS=--check        whether every quote stands on its page
    make bench-answers ARGS="--markdown"   the tables, or with --ten ten questions in full

- corpus.toml, corpus: the documents, each by package, version and SHA-256
- questions/, questions: what is asked, and the passage that answers it
- library: a local mode that has ingested them, kept in .cache/answers
- ways, given, asking: the ways to search, by the product's own adapters, each asked everything
- judging, ranking, citing, refusal: right passage, its rank, its page, and evidence enough
- prices, subject, report, aims, layout, examples: what it costs, and all of it printed
"""
