"""
The same agent with Stackroom's constructs and with the blueprint's, appmod-catalog-blueprints.

- ours, theirs: the two apps, whose lines are counted
- our_mistakes, their_mistakes: the same mistakes in both
- template: resources and grants of what an app became

The apps and the mistakes run as scripts, theirs in a virtual environment of its own, where nothing
of Stackroom is.
"""
