"""
Where the verbs work: the local mode of this machine, or a deployment on AWS, in the same terms.

    site       what a verb needs of either
    aws        a deployment on AWS
    outputs    a deployment, as the outputs of its stacks tell it
    known      the deployments that somebody added, in a file of theirs
    sign_in    a person's tokens for a deployment: signing in, renewing, signing out
    callback   the address of this machine to which a browser comes back with the code
    removals   what deletes here, and what deletes there
    refusals   AWS's refusals of an operator, a sentence each
"""
