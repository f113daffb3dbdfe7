"""How good a model is, and how good any could be: accuracy, likelihood limit, bounds, separability."""
