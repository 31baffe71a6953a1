"""From a prepared corpus to a trained, adapted, averaged or calibrated model directory.

Knows neither the command line nor the server.
"""
