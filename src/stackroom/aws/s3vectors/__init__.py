"""Indexes of S3 Vectors that we search ourselves, whoever fills them."""
