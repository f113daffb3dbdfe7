"""Subscribe to the events of a running service: a line whenever what is on the air has changed for good.

    wavetell serve 'tone:?rate=48k&snr_db=20'
    python examples/subscribe_events.py --count 3

The service sends what happens from now on; `GET /v1/events` has what happened before.
"""

import argparse
import json

from websockets.sync.client import connect


def main() -> None:
    """Print events until the service ends, or --count of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--service", default="http://127.0.0.1:8433")
    parser.add_argument("--count", type=int, default=-1, help="stop after so many; without it, never")
    args = parser.parse_args()

    with connect(f"{args.service.replace('http', 'ws', 1)}/v1/events/live") as socket:
        print("subscribed", flush=True)
        left = args.count
        for message in socket:
            event = json.loads(message)
            if event["type"] == "missed":
                print(f"too slow: missed {event['messages']} events")
                continue
            print(
                f"{event['since']}  {event['name']}: {event['previous'] or '-'} -> {event['label']}",
                flush=True,
            )
            left -= 1
            if left == 0:
                break


if __name__ == "__main__":
    main()
