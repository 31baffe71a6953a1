"""What is known about single languages, a file each."""
