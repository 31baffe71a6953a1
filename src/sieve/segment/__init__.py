"""Text into sentences and back into its layout. Knows nothing but characters."""
