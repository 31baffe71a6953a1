"""What is known about single languages, a file each. Knows no step and no model."""
