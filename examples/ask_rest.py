"""Ask a running service what a recording holds: one request with raw I/Q, one JSON object back.

wavetell serve
python examples/ask_rest.py service/demo/demo.sigmf-data --datatype ci8 --rate-hz 100000
"""

import argparse
from pathlib import Path

import httpx


def main() -> None:
    """Send the file, print an answer per window and one for the whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path, help="raw I/Q, interleaved")
    parser.add_argument("--datatype", default="cf32_le", help="as SigMF names it: cf32_le, ci16_le, ci8, cu8")
    parser.add_argument("--rate-hz", type=float, required=True)
    parser.add_argument("--service", default="http://127.0.0.1:8433")
    args = parser.parse_args()

    answer = httpx.post(
        f"{args.service}/v1/predict",
        params={"datatype": args.datatype, "rate_hz": args.rate_hz},
        content=args.file.read_bytes(),
        timeout=60,
    )
    if answer.is_error:
        raise SystemExit(answer.json()["detail"])
    predicted = answer.json()
    for window in predicted["windows"]:
        at_s = window["start"] / args.rate_hz
        print(f"{at_s:8.3f} s  {window['label']:<10} {window['probability']:.0%}")
    print(f"whole: {predicted['whole']['label']}, by the model {predicted['model']}")


if __name__ == "__main__":
    main()
