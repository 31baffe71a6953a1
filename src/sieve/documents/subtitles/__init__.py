"""Subtitles: cues into blocks, and translations over cues again. Knows no files."""
