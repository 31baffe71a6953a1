"""Raw text into clean text: rules, repairs, samples, and pairs made of pairs. Knows no model."""
