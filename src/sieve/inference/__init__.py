"""Engines that translate ids, and the translator that wraps one in text."""
