"""Why a word was selected, as values and as a page. Knows translators, prints nothing."""
