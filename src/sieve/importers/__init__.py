"""Models of other toolkits into Sieve's model directory, one file a family. Knows no translator."""
