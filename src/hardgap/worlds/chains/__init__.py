"""Experiment 2's world (paper §4.6): chains of operators on n-bit integers, one pair of operators never shown."""
