"""HTML pages that need nothing but themselves: their frame and style. Knows no page's content."""
