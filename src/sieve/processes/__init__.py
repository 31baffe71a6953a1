"""How processes share a machine: worker pool, scratch directories, file locks, usable cores.

May not know text, models or files of any format.
"""
