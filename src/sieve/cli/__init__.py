"""The command line: `main` finds the verb, one file a verb. Only here: argparse and print.

Knows no arithmetic: what a verb does is in the room named after it.
"""
