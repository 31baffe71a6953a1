"""Models of other toolkits into Sieve's model directory: one family a file, behind one protocol."""
