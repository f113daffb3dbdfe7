"""What REST answers, field by field, for the OpenAPI document.

Answers are not built from these: no request pays for them. The tests hold every answer against them, and a
field that is not named here fails.
"""
