"""A browser on the dashboard while the service goes and comes back: `python -m tests.soak.page URL TOKEN`.

It says "shown", waits for a line, and says "shown again" when the page shows frames of the spectrum again.
"""

import sys

from playwright.sync_api import sync_playwright

from tests.require import need_program
from tests.service.dashboard.conftest import FLAGS

WAIT_MS = 120_000


def main(base, token):
    """Look, wait and look again; an error of the page's scripts fails it."""
    errors, frames = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need_program("chromium"), args=FLAGS.split())
        page = browser.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("websocket", lambda socket: socket.on("framereceived", lambda _: frames.append(1)))
        page.goto(base)
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        for said in ("shown", "shown again"):
            frames.clear()
            while not frames:
                page.wait_for_timeout(100)
            print(said, flush=True)
            if said == "shown":
                sys.stdin.readline()
        browser.close()
    sys.exit("; ".join(errors) or 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
