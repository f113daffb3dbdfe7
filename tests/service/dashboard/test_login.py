"""Login, a restart underneath, keyboard and screen reader, dark and light, a phone."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.conftest import serving
from tests.service.dashboard.conftest import TABS, expect, looking, on_the_air, wait_for_answer


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_token_is_asked_for_once_and_then_everything_works(browser, tmp_path, air):
    data = tmp_path / "data"
    command = [
        sys.executable,
        "-m",
        "service.cli",
        "token",
        "add",
        "me",
        "--role",
        "operate",
        "--data",
        str(data),
    ]
    token = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]
    with on_the_air(data, air) as guarded, looking(browser, guarded.base) as page:
        page.errors.expected.append("403")  # the wrong token
        dialog = page.get_by_role("dialog", name="Login")
        expect(dialog).to_be_visible()
        dialog.get_by_label("Token").fill("wrong")
        dialog.get_by_role("button", name="Log in").click()
        expect(dialog.get_by_role("alert")).to_have_text("this token is not valid")
        dialog.get_by_label("Token").fill(token)
        dialog.get_by_role("button", name="Log in").click()
        expect(dialog).to_be_hidden()
        wait_for_answer(page)
        assert token not in page.evaluate("document.cookie + JSON.stringify(localStorage)")
        page.reload()
        wait_for_answer(page)
        expect(dialog).to_be_hidden()


def test_the_service_is_restarted_underneath_and_the_page_recovers_by_itself(browser, tmp_path, air):
    port, data = str(free_port()), tmp_path / "data"
    sockets = []
    with looking(browser, "about:blank") as page:
        page.errors.expected += ["WebSocket", "ERR_", "Failed to load resource"]
        page.on("websocket", lambda opened: sockets.append(opened.url))
        with on_the_air(data, air, "--port", port) as first:
            page.goto(first.base)
            wait_for_answer(page)
            first.kill()
        expect(page.locator("#connection")).to_contain_text("does not answer", timeout=10_000)
        page.wait_for_timeout(5000)
        assert len(sockets) < 2 + 2 * 8  # no storm while nobody answers
        with on_the_air(data, air, "--port", port):
            expect(page.locator("#connection")).to_have_text("connected", timeout=20_000)
            before = page.locator("#waterfall").screenshot()
            page.wait_for_timeout(6000)
            assert page.locator("#waterfall").screenshot() != before
            expect(page.locator("#health")).to_contain_text("running")
            assert page.evaluate("document.querySelector('#answer .facts').textContent").startswith("sure")


def test_a_service_with_no_stream_and_no_federation_says_so(browser, tmp_path, air):
    with serving(tmp_path / "data", air[1]) as bare, looking(browser, bare.base) as page:
        expect(page.locator("#nothing")).to_contain_text("No stream yet")
        page.get_by_role("tab", name="Federation").click()
        expect(page.locator("#federation")).to_contain_text("is not part of a federation", timeout=15_000)


NAMELESS = """() => {
    const all = document.querySelectorAll("button, input, select, canvas[role=img], [tabindex='0']");
    const named = (e) => e.ariaLabel || e.textContent.trim() || e.labels?.length || e.title;
    return [...all].filter((e) => e.offsetParent && !e.ariaHidden && !named(e)).map((e) => e.outerHTML);
}"""


def test_everything_has_a_name_for_a_screen_reader(page):
    assert page.title() == "wavetell"
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(300)
        assert page.evaluate(NAMELESS) == []
        expect(page.get_by_role("tabpanel", name=tab)).to_be_visible()
    assert page.locator("#answer [aria-live=polite]").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


def test_everything_can_be_done_with_keys(page):
    page.locator("#water").focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Go live")).to_be_visible()
    page.keyboard.press("s")
    expect(page.locator("#selection")).to_be_visible()
    before = page.locator("#selection p").inner_text()
    page.keyboard.press("Shift+ArrowDown")
    assert page.locator("#selection p").inner_text() != before
    page.keyboard.press("Enter")
    expect(page.get_by_label("Label of this stretch")).to_be_focused()
    page.locator("#water").focus()
    page.keyboard.press("Escape")
    for key, tab in (("5", "Teach"), ("6", "Streams"), ("8", "Federation"), ("2", "Signal")):
        page.keyboard.press(key)
        expect(page.get_by_role("tab", name=tab)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Alerts")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


COLOUR = """(name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour.match(/[0-9.]+/g).map(Number);
}"""


def luminance(page, name):
    """Relative luminance of a colour of the theme, as WCAG defines it."""
    r, g, b = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255 for value in page.evaluate(COLOUR, name))
    )
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_dark_and_light_can_both_be_read(page):
    for _ in range(2):
        for ink in ("--text", "--faint", "--accent", "--good", "--bad"):
            for ground in ("--ground", "--panel"):
                low, high = sorted(luminance(page, name) for name in (ink, ground))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)
        page.get_by_role("button", name="Dark or light").click()


def heap(page):
    """Bytes that the page's objects take, after a collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")
    session.detach()
    return used["usedSize"] + used.get("backingStorageSize", 0)


def browser_bytes():
    """Memory that the browser's processes hold of their own, our descendants all."""
    parents, sizes = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
            parents[int(folder.name)] = int(status.split("PPid:")[1].split()[0])
            if "chrom" in status.split()[1]:
                sizes[int(folder.name)] = 1024 * int(status.split("RssAnon:")[1].split()[0])
        except (OSError, IndexError):  # it ended meanwhile, or is the kernel's
            continue

    def ours(pid):
        return pid == os.getpid() or (pid in parents and ours(parents[pid]))

    return sum(size for pid, size in sizes.items() if ours(pid))


# Keeps with which code each WebSocket was closed, so that a failure says who did it.
ENDS = """window.ends = [];
window.WebSocket = class extends WebSocket {
    constructor(url) {
        super(url);
        const kind = new URL(url).pathname.split("/").at(-1);
        this.addEventListener("close", (end) => window.ends.push(`${kind} ${end.code} ${end.reason}`));
    }
};"""


@pytest.mark.acceptance
@pytest.mark.timeout(7200)
def test_a_page_left_open_stays_as_it_is(browser, tmp_path, air):
    """Memory flat and no reconnect storm for WAVETELL_SOAK_MIN minutes (30), with a restart in the middle."""
    minutes = float(os.environ.get("WAVETELL_SOAK_MIN", "30"))
    port, data, sockets, used, whole = str(free_port()), tmp_path / "data", [], [], []

    def stay(times):
        for _ in range(times):
            page.wait_for_timeout(minutes * 5_000)
            used.append(heap(page))
            whole.append(browser_bytes())
            sizes = f"heap {used[-1] / 1e6:.1f} MB, browser {whole[-1] / 1e6:.0f} MB"
            print(f"{sizes}, {len(sockets)} sockets", *page.evaluate("window.ends.splice(0)"))
            wait_for_answer(page)

    with looking(browser, "about:blank") as page:
        page.errors.expected += ["WebSocket", "ERR_", "Failed to load resource"]  # while it is away
        page.add_init_script(ENDS)
        page.on("websocket", lambda opened: sockets.append(opened.url))
        with on_the_air(data, air, "--port", port) as service:
            page.goto(service.base)
            wait_for_answer(page)
            stay(6)
            assert len(sockets) == 2, sockets
            service.kill()
        page.wait_for_timeout(5000)
        tried = len(sockets)
        with on_the_air(data, air, "--port", port):
            expect(page.locator("#connection")).to_have_text("connected", timeout=60_000)
            stay(6)
    print(f"sockets: 2 before the restart, {len(sockets) - 2} by it and after, {tried - 2} while it was away")
    # Answers are kept up to a bound, so some growth at first is right; from the middle on there is none.
    for sizes, slack in ((used, 10e6), (whole, 60e6)):
        assert min(sizes[8:]) < 1.1 * sizes[7]
        assert sizes[-1] < sizes[1] + slack
    assert len(sockets) <= 2 + 2 * 16, sockets
