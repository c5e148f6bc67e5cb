"""
Where the verbs work: the local mode of this machine, or a deployment on AWS, in the same terms.

    site               what a verb needs of either, and a deployment on AWS
    known_deployments  the deployments that somebody added, in a file of theirs
    site_services      the product's use cases over what is deployed, for an operator
    site_records       everybody's records
    file_drop          files of this machine into the bucket
    operator_removals  what deletes here, and what deletes there
    aws_refusals       AWS's refusals of an operator, a sentence each
"""
