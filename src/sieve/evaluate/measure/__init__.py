"""What is measured: quality, recall, set sizes, latency. Knows no figure and no page."""
