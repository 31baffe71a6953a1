"""From a prepared corpus to a trained, adapted, averaged or calibrated model directory."""
