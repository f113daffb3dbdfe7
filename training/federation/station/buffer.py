"""What a running service keeps of a live stream, as recordings to learn from; they stay on this machine."""

from pathlib import Path

import httpx

from streaming.errors import WavetellError
from training.federation.station.deploy import check

KEEP = 20  # newest stretches
TIMEOUT_S = 60.0


def fetch_buffer(url: str, token: str, stream: str, seconds: float, folder: Path) -> int:
    """Add the last seconds of a stream to the folder; a number that says which stretch is the newest."""
    folder.mkdir(parents=True, exist_ok=True)
    known = sorted(folder.glob("*.sigmf-meta"))
    number = int(known[-1].stem) + 1 if known else 1
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=TIMEOUT_S) as http:
        try:
            made = http.post(f"/v1/streams/{stream}/recordings", json={"seconds": seconds})
            check(made)
            where = f"/v1/recordings/{made.json()['id']}"
            for kind in ("sigmf-data", "sigmf-meta"):  # a stretch without its metadata is not seen
                answer = http.get(f"{where}/{kind}")
                check(answer)
                (folder / f"{number:08d}.{kind}").write_bytes(answer.content)
            check(http.delete(where))
        except httpx.TransportError as error:
            raise WavetellError(f"the service at {url} cannot be reached: {error!r}") from None
    for old in known[: len(known) + 1 - KEEP]:
        old.unlink()
        old.with_suffix(".sigmf-data").unlink()
    return number
