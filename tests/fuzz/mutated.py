"""Inputs made from good ones by a few edits: bytes changed, left out, doubled, or replaced by ugly ones."""

from hypothesis import strategies as st

UGLY = [
    *(b"\0", b"\xff" * 8, b"\x7f\xff\xff\xff", b"\0\0\0\x80", b"\0\0\xc0\x7f", b"\0\0\x80\x7f"),
    *(
        b"NaN",
        b"Infinity",
        b"-1",
        b"1e308",
        b"1e-320",
        b"9" * 400,
        b"null",
        b"true",
        b'"\\ud800"',
        b"[" * 2000,
    ),
    *(b"{}", b"[]", b'""', "\u202e".encode(), b"%00", b"..", b"/", b"&", b"=", b"?", b":", b"\r\n"),
]
PIECES = st.sampled_from(UGLY) | st.binary(min_size=1, max_size=8)


@st.composite
def mutated(draw, seeds):
    """One of the seeds with up to six edits."""
    made = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(made)))
        kind = draw(st.sampled_from(["put", "insert", "cut", "leave out", "double"]))
        piece = draw(PIECES)
        if kind == "put":
            made[at : at + len(piece)] = piece
        elif kind == "insert":
            made[at:at] = piece
        elif kind == "cut":
            del made[at:]
        elif kind == "leave out":
            del made[at : at + draw(st.integers(1, 64))]
        else:
            made[at:at] = made[at : at + draw(st.integers(1, 64))]
    return bytes(made)
