"""Dark, light, a desk and a phone: nothing is wider than the window, and the README gets its pictures."""

import pytest

from tests.service.dashboard.conftest import TABS, looking, wait_for_answer
from tests.service.dashboard.photograph import photograph

DESK, PHONE = {"width": 1360, "height": 820}, {"width": 390, "height": 844}


@pytest.mark.parametrize(
    ("name", "size", "scheme"), [("dark", DESK, "dark"), ("light", DESK, "light"), ("phone", PHONE, "dark")]
)
def test_it_fits_and_is_photographed(browser, service, name, size, scheme):
    options = {"viewport": size, "color_scheme": scheme, "has_touch": size is PHONE}
    with looking(browser, service.base, **options) as page:
        wait_for_answer(page)
        page.wait_for_timeout(4000)
        photograph(page, name)
        for tab in TABS:
            page.get_by_role("tab", name=tab).click()
            page.wait_for_timeout(1000)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], tab
