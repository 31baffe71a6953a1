"""From a prepared corpus to a trained model directory."""
