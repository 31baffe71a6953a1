"""Why a token was selected, as values and as a page. Knows no other measurement, prints nothing."""
