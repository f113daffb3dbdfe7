"""Objectives of self-supervised pretraining, and the label-free statistics that they predict."""
