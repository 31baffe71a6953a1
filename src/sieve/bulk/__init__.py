"""Corpora of any size: cut into pieces, translated by many processes or machines, put together.

A piece is some rows of a file; its translation is a file named by what it was made from, written
whole or not at all, so that whoever dies on the way, each row is in the output exactly once. Data
flows one way: `inputs` and `planning` say what there is to do, a runner does it, `piece_store`
keeps what is done, `assembly` writes the outputs. Knows no engine, and Ray in `ray_runner` alone.
"""
