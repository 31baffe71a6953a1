"""The model directory: configuration, weights in every precision, and the built-in models.

No torch; knows nothing of what is done with a model.
"""
