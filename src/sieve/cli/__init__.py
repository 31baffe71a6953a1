"""The command line: `main` finds the verb, one file a verb. Only here: argparse and print."""
