"""Which output words a sentence may use. numpy only."""
