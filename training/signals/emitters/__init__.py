"""Emitters: transmitters of each family with settings of standards and devices, in hertz and seconds."""
