"""The C++ engine on a CPU. Knows no torch."""
