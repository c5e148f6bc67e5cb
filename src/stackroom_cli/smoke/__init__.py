"""
`stackroom doctor --smoke`: a run through all that Stackroom promises, where it is deployed.

It works as two users who are made for it, through what users and agents have, and looks behind it
with an operator's credentials. What the code believes of AWS without a source stands in
`assumptions`; the steps say of each, here and now, whether it holds. `cleanup` removes what a run
made, also that of a run that was killed.
"""
