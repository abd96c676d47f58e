"""The suite: does *your* network recover rules it was never shown? Fixed gaps, fixed budgets, one card."""
