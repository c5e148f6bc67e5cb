"""Knowledge bases that Bedrock's Retrieve searches, whatever they stand on."""
