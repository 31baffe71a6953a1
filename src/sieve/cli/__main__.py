"""`python -m sieve.cli`, for source trees that were not installed."""

from sieve.cli.main import run

if __name__ == "__main__":
    run()
