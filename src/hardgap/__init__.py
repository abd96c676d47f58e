"""hardgap: has a neural network learned a rule it was never shown?"""

__version__ = "0.1.0"
