"""How bodies are announced in HTTP: media type with precision, and digest.

>>> media_type("int8", "ab12")
'application/safetensors; precision=int8; from=ab12'
>>> parameters("application/safetensors; precision=int8")
('application/safetensors', {'precision': 'int8'})
"""

import base64
from email.message import Message

from training.federation.errors import Problem
from training.federation.manifest import PRECISIONS, Precision

MEDIA_TYPE = "application/safetensors"


def media_type(precision: Precision, source: str = "") -> str:
    """The media type of a body; `source` names the model that it is to be added to."""
    return f"{MEDIA_TYPE}; precision={precision}" + (f"; from={source}" if source else "")


def parameters(value: str) -> tuple[str, dict[str, str]]:
    """A media type and its parameters."""
    message = Message()
    message["content-type"] = value
    return message.get_content_type(), {str(k): str(v) for k, v in (message.get_params() or [])[1:]}


def as_precision(text: str) -> Precision:
    """One of ours."""
    for precision in PRECISIONS:
        if text == precision:
            return precision
    raise Problem(415, f"the precision is {text[:20]!r}; it must be {' or '.join(PRECISIONS)}")


def digest_in(header: str) -> str:
    """The sha256 of a Content-Digest header (RFC 9530), in hexadecimal."""
    for entry in header.split(","):
        name, _, value = entry.strip().partition("=")
        if name == "sha-256" and len(value) > 2 and value[0] == value[-1] == ":":
            try:
                return base64.b64decode(value[1:-1], validate=True).hex()
            except ValueError:
                break
    raise Problem(400, "a Content-Digest with sha-256 is needed (RFC 9530)")


def digest_header(sha256: str) -> str:
    """The Content-Digest header of a sha256 in hexadecimal."""
    return f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:"
