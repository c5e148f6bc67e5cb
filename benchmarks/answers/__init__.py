"""
Whether the right passage is found, over real documents with questions written for this.

    make bench-answers                     both sets of questions, all ways
    make bench-answers ARGS=--tune         only the set that may be tuned on
    make bench-answers ARGS=--check        whether every quote stands on its page
    make bench-answers ARGS="--markdown"   the tables, or with --ten ten questions in full
    make bench-answers ARGS="--stores"     the same passages in every store, side by side
    make bench-answers ARGS="--chunks 150,300,600"     cut in other sizes, each ingested once
    make bench-answers ARGS="--stores --share 4"       over every fourth document, for a try

- corpus.toml, corpus: the documents, each by package, version and SHA-256
- questions/, questions: what is asked, and the passage that answers it
- library: a local mode that has ingested them, kept in .cache/answers
- ways, given, asking: the ways to search, by the product's own adapters, each asked everything
- judging, ranking, citing, refusal: right passage, its rank, its page, and evidence enough
- stores, chunk_sizes, homes, compared: other ways to keep the same documents, and one table of them
- tried: what was tried for better answers and not kept, by a command of its own
- prices, subject, report, aims, layout, examples: what it costs, and all of it printed
"""
