"""What is done around a model so that text comes through unharmed. Knows text and no engine."""
