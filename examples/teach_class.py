r"""Teach a running service your own classes: label stretches of live streams, fit a head, see the confusion.

Each argument is a class and a source that carries it; two classes at least:

    wavetell serve --allow-folders recordings
    python examples/teach_class.py 'doorbell=file:recordings/bell_250k.cu8?pace=realtime&loop=1' \
                                   'garage=file:recordings/gate_250k.cu8?pace=realtime&loop=1'

The streams stay and are answered by the new head. `POST /v1/models/rollback` takes the lesson back.
"""

import argparse
import time
from typing import Any

import httpx

STRETCH_S = 0.3


def main() -> None:
    """Open a stream per class, label it, fit, print the confusion before and after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("classes", nargs="+", metavar="CLASS=SOURCE")
    parser.add_argument("--service", default="http://127.0.0.1:8433")
    parser.add_argument("--labels", type=int, default=6, help="stretches per class")
    args = parser.parse_args()

    with httpx.Client(base_url=args.service, timeout=120) as http:
        for pair in args.classes:
            name, _, source = pair.partition("=")
            stream = ask(http, "/v1/streams", {"source": source, "name": name})["id"]
            for _ in range(args.labels):
                time.sleep(STRETCH_S)
                ask(http, "/v1/labels", {"stream": stream, "label": name, "seconds": STRETCH_S})
        fitted = ask(http, "/v1/heads/taught/fit", {})
    print(f"{fitted['model']} knows {', '.join(fitted['classes'])}, from {fitted['windows']} windows")
    for when in ("before", "after"):
        for truth, answers in (fitted[when] or {}).items():
            print(f"{when:>6}  {truth:<10} was called {answers}")


def ask(http: httpx.Client, path: str, body: dict[str, Any]) -> Any:  # noqa: ANN401
    """The JSON answer, or the service's own line on what is wrong."""
    answer = http.post(path, json=body)
    if answer.is_error:
        raise SystemExit(f"{path}: {answer.json()['detail']}")
    return answer.json()


if __name__ == "__main__":
    main()
