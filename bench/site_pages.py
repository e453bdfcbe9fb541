#!/usr/bin/env python3
"""Opens pages of a built site in Chromium: times of the list of runs, findings of axe-core, and pictures.

    bench/site_pages.py times SITE              when runs.html is ready, and how long searches and sorting take
    bench/site_pages.py axe SITE AXE_MIN_JS     all findings of axe-core about a page of each kind
    bench/site_pages.py pictures SITE OUT PAGE:WIDTHxHEIGHT:light|dark[:SCALE] ...

Needs Debian's chromium and chromium-driver, and nothing else. Pictures are reduced by pngquant if it is installed.
"""
import base64
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request


class Browser:
    def __enter__(self):
        self.place = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in self.driver.stdout:
            if found := re.search(r"successfully on port (\d+)", line):
                self.base = f"http://127.0.0.1:{found[1]}/session"
                break
        arguments = ["--headless=new", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={self.place.name}"]
        options = {"goog:chromeOptions": {"args": arguments}}
        answer = self.post("", {"capabilities": {"alwaysMatch": options}})
        self.base += "/" + answer["sessionId"]
        return self

    def __exit__(self, *_):
        request = urllib.request.Request(self.base, method="DELETE")
        urllib.request.urlopen(request, timeout=60).read()
        self.driver.terminate()
        self.driver.wait()
        self.place.cleanup()

    def post(self, path, body):
        request = urllib.request.Request(
            self.base + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)["value"]

    def tools(self, command, **parameters):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, page):
        self.post("/url", {"url": page.resolve().as_uri()})

    def value(self, expression):
        answer = self.tools("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def shown(self, width, height, colours):
        self.tools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        features = [{"name": "prefers-color-scheme", "value": colours}]
        self.tools("Emulation.setEmulatedMedia", media="screen", features=features)


# From an input event until the page is laid out again.
SEARCH = """(() => { const search = document.querySelector('input[type=search]');
    const began = performance.now();
    search.value = %s; search.dispatchEvent(new Event('input')); document.body.offsetHeight;
    return performance.now() - began; })()"""
SORT = """(() => { const began = performance.now();
    document.querySelectorAll('thead button')[6].click(); document.body.offsetHeight;
    return performance.now() - began; })()"""


def times(site):
    with Browser() as browser:
        browser.shown(1280, 800, "light")
        ready = []
        for _ in range(5):
            browser.open(site / "runs.html")
            timing = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
            ready.append(browser.value(timing))
        print(f"runs.html: ready after {statistics.median(ready):.0f} ms ({min(ready):.0f} to {max(ready):.0f})")
        for words in ["h", "host-13", "host-13 6.7", "varmail", "no such words", ""]:
            took = [browser.value(SEARCH % json.dumps(words)) for _ in range(5)]
            told = browser.value("document.querySelector('[role=status]').textContent")
            print(f"search {words!r}: {statistics.median(took):.0f} ms ({told})")
        print(f"sort: {statistics.median(browser.value(SORT) for _ in range(5)):.0f} ms")
        heap = browser.value("performance.memory.usedJSHeapSize")
        print(f"heap of the script: {heap / 1e6:.0f} MB")


def pages(site):
    """A page of each kind."""
    names = sorted(page.relative_to(site) for page in site.glob("*.html"))
    for kind in ["run", "system", "workload", "study", "collection"]:
        names += sorted(page.relative_to(site) for page in (site / kind).glob("*.html"))[:1]
    return names


def axe(site, source):
    code = pathlib.Path(source).read_text() + "; 0"
    run = """axe.run(document).then((result) => result.violations.map((rule) =>
        `${rule.impact} ${rule.id}: ${rule.nodes.length} times, first ${rule.nodes[0].html.slice(0, 200)}`))"""
    wider = "document.documentElement.scrollWidth - innerWidth"
    found = 0
    with Browser() as browser:
        for page in pages(site):
            browser.open(site / page)
            browser.value(code)
            for width, colours in [(390, "light"), (1280, "dark"), (2560, "light")]:
                browser.shown(width, 900, colours)
                problems = browser.value(run)
                if (more := browser.value(wider)) > 0:
                    problems.append(f"{more} pixels wider than the window")
                found += len(problems)
                print(f"{page}, {width}, {colours}: {len(problems)} findings", *problems, sep="\n  ")
    return found


def pictures(site, out, wanted):
    with Browser() as browser:
        for one in wanted:
            page, size, colours, *scale = one.split(":")
            width, height = map(int, size.split("x"))
            browser.shown(width, height, colours)
            browser.open(site / page)
            clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": float(scale[0]) if scale else 1}
            data = browser.tools("Page.captureScreenshot", format="png", clip=clip)["data"]
            name = out / f"{page.removesuffix('.html').replace('/', '-')}-{width}-{colours}.png"
            name.write_bytes(base64.b64decode(data))
            if shutil.which("pngquant"):
                subprocess.run(["pngquant", "--force", "--ext", ".png", "--strip", "32", name], check=True)
            print(f"{name}: {name.stat().st_size // 1024} kB")


def main(what, site, *rest):
    site = pathlib.Path(site)
    if what == "times":
        times(site)
    elif what == "axe":
        return 1 if axe(site, *rest) else 0
    elif what == "pictures":
        pictures(site, pathlib.Path(rest[0]), rest[1:])
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
