"""Marian's own formats: containers, settings, parameters, vocabularies. Knows no other family."""
