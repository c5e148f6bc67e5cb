"""
The sites that commands work on: this machine's local mode, or a deployment on AWS.

    site               what a command needs of a site, and the deployment on AWS
    known_deployments  the deployments that a person added, in that person's files
    site_services      the product's use cases over a site, for an operator
    site_records       all users' records
    file_drop          uploads files of this machine to the bucket
    operator_removals  deletes documents and catalogs, in either kind of site
    aws_refusals       explains AWS's refusals of an operator
"""
