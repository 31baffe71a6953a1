"""From raw text to int8 models of both directions: the stages of recipes/build.py."""
