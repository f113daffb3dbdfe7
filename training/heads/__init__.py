"""Fitting of heads on labelled embeddings: classifier, calibration and open-set detector."""
