"""
`stackroom doctor --smoke`: try everything that Stackroom promises on a deployed site.

A run works as two users that it creates, with what users and agents have, and inspects the result
with an operator's credentials. `assumptions` lists what the code assumes about AWS without a
source; the steps report for each whether it holds. `cleanup` removes what a run created.
"""
