"""What is measured: quality, recall, shortlist sizes, latency. Knows no table and no page."""
