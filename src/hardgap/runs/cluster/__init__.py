"""Runs that are trained on other machines, in stores of their own there; the driver alone writes its store."""
