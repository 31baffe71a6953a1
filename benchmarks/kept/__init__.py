"""What a translation keeps of its source: generated and collected lines, and an independent scorer.

Knows nothing of src/sieve/repair: what is measured and what measures it must not share mistakes.
"""
