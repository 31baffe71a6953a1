"""One update: the batches it sees, the losses, the gradients and the optimizer step.

May know how far a run has come; not its files, its validation or its data on disk.
"""
