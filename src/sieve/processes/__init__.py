"""How processes share a machine: worker pool, scratch directories, locks, usable cores, memory.

May not know text, models or files of any format.
"""
