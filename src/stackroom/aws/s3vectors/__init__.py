"""Search indexes of S3 Vectors by ourselves, whoever fills them."""
