"""Latency in fresh processes: rounds of runs, and what a run does. Knows no table and no page."""
