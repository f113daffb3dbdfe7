"""How models are made: signals, data sets, pretraining, heads, federation, baselines, experiments."""
