"""
What the use cases need of the world, by subject; each port is as small as its users allow.

The adapters are in stackroom.aws and, of knowledge bases, in stackroom.stores; tests have fakes
with state that share a contract suite (tests/contract/ports). Every write of a record is
conditional on what was read: RecordChanged means read again. Imports the model, filters and errors,
and no package of use cases.
"""
