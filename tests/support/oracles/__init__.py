"""Other toolkits as oracles: each runs in a virtual environment of its own, asked in JSON lines.

`environments` makes the environments, `programs/` runs inside them, `asking` talks to those,
`real_models` has the models and `comparing` holds their answers against Sieve's.
"""
