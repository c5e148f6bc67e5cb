"""
The knowledge base that with_boto3.py made, by langchain-aws: `with_langchain.py KNOWLEDGE_BASE_ID`.
"""

import sys

from langchain_aws.retrievers import AmazonKnowledgeBasesRetriever

retriever = AmazonKnowledgeBasesRetriever(
    knowledge_base_id=sys.argv[1],
    retrieval_config={"vectorSearchConfiguration": {"numberOfResults": 4}},
)
for document in retriever.invoke("What does parking cost?"):
    print(document.metadata["location"]["s3Location"]["uri"], document.page_content)
