"""The band: every emission that a receiver hears, found, followed and brought to the model's rate.

Looks -> Floor -> Tracker -> Bank: one transform for all channels -> a Piece per track
"""
