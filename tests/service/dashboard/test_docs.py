"""The page that documents REST: from the service alone, and what it shows can be run."""

from tests.service.dashboard.conftest import expect, looking


def test_the_interface_is_documented_offline_and_its_examples_run(browser, service):
    asked = []
    with looking(browser, "about:blank") as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{service.base}/docs")
        operation = page.locator(".opblock", has_text="/v1/predict").first
        operation.locator(".opblock-summary").click(timeout=15_000)
        operation.locator("select[aria-label='Request content type']").select_option("application/json")
        expect(operation.locator("textarea")).to_contain_text("rate_hz")
        operation.get_by_role("button", name="Execute").click()
        answered = operation.locator(".live-responses-table .response").first
        expect(answered).to_contain_text("200", timeout=20_000)
        expect(answered).to_contain_text("probabilities")
        assert all(url.startswith((service.base, "data:")) for url in asked), asked
        assert f"{service.base}/openapi.json" in asked
    assert "script-src 'self';" in service.get("/docs").headers["content-security-policy"]
    assert service.get("/docs/../app.py").status_code == 404
