"""What the workers of a server have in common: numbers in memory that all of them see.

A server of one process has the same for itself alone. Each worker writes to its own part, so that
one that is killed harms nothing; what a limit depends on is changed under a lock that the system
takes from whoever dies. Knows neither requests nor models.
"""
