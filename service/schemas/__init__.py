"""What REST answers, field by field: routes build these, and the OpenAPI document is made from them."""
