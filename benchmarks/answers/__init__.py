"""
Whether the right passage is found, over real documents with questions written for this.

    make bench-answers

- corpus.toml: the documents, each by package, version and SHA-256
- questions/: what is asked, and the passage that answers it
"""
