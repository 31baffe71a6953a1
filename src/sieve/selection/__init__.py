"""Which output tokens a sentence may use. numpy only: knows engines and models by no name."""
