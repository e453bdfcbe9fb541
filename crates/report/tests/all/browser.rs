//! Tests of pages in a real browser, with pointer and keyboard, and a check of accessibility by
//! axe-core.

use testkit::{Assert, Shows};

mod driven;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use record::{Action, Record};
use report::page::page;
use report::site::{Order, index, runs};
use serde_json::{Value, json};

use self::driven::{Browser, needed};
use crate::pages::{HOSTILE, hostile, kept, over_time, page_of, run, swept};
use crate::sites::site;
use crate::studied::{hostile_study, page_of_a_hundred, page_of_study};

/// Widths of a telephone, a laptop and a large screen, in pixels.
const WIDTHS: [u32; 3] = [390, 1280, 2560];
/// Width of each chart in the comparison with the golden image, in pixels.
const COMPARED: u32 = 200;

fn of_run() -> String {
    page_of(&over_time(40, &[Action::Read, Action::Create]))
}

/// Serious and critical findings of axe-core, as lines.
fn findings(browser: &Browser, axe: &str) -> String {
    browser.value(axe);
    let found = browser.value(
        "axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations
           .filter((rule) => rule.impact === 'serious' || rule.impact === 'critical')
           .map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.html.slice(0, 200) + ' ' + \
         node.failureSummary).join('\\n')}`)
           .join('\\n'))",
    );
    found.as_str().unwrap().to_owned()
}

#[test]
fn pages_are_accessible_at_every_width_and_send_no_requests() {
    let Some(axe) = needed() else { return };
    let axe = std::fs::read_to_string(axe).unwrap() + "; 0";
    let browser = Browser::start();
    for (name, page) in [
        ("run", of_run()),
        ("sweep", page_of(&swept())),
        ("study", page_of_study()),
        ("hostile", hostile()),
        ("hostile study", hostile_study()),
        ("overview of a site", index(&site(3, varied))),
        ("short list", runs(&site(9, varied), Order::Begun).unwrap()),
        ("long list", runs(&site(60, varied), Order::Begun).unwrap()),
    ] {
        browser.open(&page);
        for width in WIDTHS {
            browser.wide(width);
            let wider = browser.value("document.documentElement.scrollWidth - innerWidth");
            assert!(
                wider.as_i64().unwrap() <= 0,
                "{name} is {wider} wider than {width} pixels"
            );
            // Findings about colours do not depend on the width, so dark colours are checked at one
            // width only. At the largest width, only the page of a run is checked.
            let colours = match width {
                1280 => &["dark", "light"][..],
                390 => &["light"],
                _ if name == "run" => &["light"],
                _ => &[],
            };
            for colours in colours {
                browser.shown("screen", colours);
                let found = findings(&browser, &axe);
                assert_eq!(found, "", "{name}, {width} pixels, {colours}");
            }
        }
        assert_eq!(browser.complaints(), [""; 0], "{name}");
    }
}

#[test]
fn browser_executes_nothing_from_a_hostile_record() {
    if needed().is_none() {
        return;
    }
    let browser = Browser::start();
    browser.open(&hostile_study());
    has_nothing_foreign(&browser);
    let cells = browser.text("main");
    cells
        .len()
        .assert(cells.matches("<script>alert(1)").count() > 10);
    browser.open(&hostile());
    has_nothing_foreign(&browser);
    let shown = HOSTILE.split('\u{202e}').next().unwrap();
    assert!(browser.text("h1").contains(shown), "{}", browser.text("h1"));
}

/// Checks that the page contains no elements that originate from strings in a record.
fn has_nothing_foreign(browser: &Browser) {
    // The driver would report an open dialog, such as that of `alert`, as an error.
    assert_eq!(browser.complaints(), [""; 0]);
    assert_eq!(
        browser.value(
            "[document.querySelectorAll('img, iframe, object, embed, form').length, \
             document.scripts.length,
           [...document.querySelectorAll('*')].filter((element) => \
             [...element.attributes].some((one) => one.name.startsWith('on'))).length]"
        ),
        json!([0, 2, 0])
    );
}

#[test]
fn readouts_legends_and_tables_react_to_the_pointer() {
    if needed().is_none() {
        return;
    }
    let browser = Browser::start();
    browser.wide(1280);
    browser.open(&of_run());
    let chart = ".picture[aria-label='Rate over time']";
    let readout = format!("{chart} .readout");
    browser.point(&format!("{chart} svg"), (0.6, 0.5), false);
    let read = browser.text(&readout);
    read.shows("all operations: 40\n");
    assert!(read.ends_with("read: 20"), "{read}");
    // The readout of a heat map shows the percentiles of its table.
    browser.point(
        ".picture[aria-label='Latency of read over time'] svg",
        (0.6, 0.5),
        false,
    );
    let read = browser.text(".picture[aria-label='Latency of read over time'] .readout");
    read.shows("max: ");
    assert_eq!(
        browser.value(&format!("document.querySelector({readout:?}).hidden")),
        true
    );
    // Clicking the legend hides a series and shows it again.
    let name = format!("{chart} g.name");
    let is_seen = || {
        browser.value(&format!(
            "document.querySelector(\"{chart} g.series\").getBoundingClientRect().width > 0"
        ))
    };
    assert_eq!(is_seen(), true);
    browser.point(&name, (0.5, 0.5), true);
    assert_eq!(is_seen(), false);
    browser.point(&format!("{chart} svg"), (0.6, 0.5), false);
    assert!(
        !browser.text(&readout).contains("all operations"),
        "{}",
        browser.text(&readout)
    );
    browser.point(&name, (0.5, 0.5), true);
    assert_eq!(is_seen(), true);
    // Sorting is ascending, then descending, then in the original order.
    let column = |number: u32| {
        browser.value(&format!(
            "[...document.querySelectorAll('#sorted tbody tr')].map((row) => \
             row.cells[{number}].textContent)"
        ))
    };
    browser.value(
        "const table = [...document.querySelectorAll('.data table')].find((table) => \
         table.tHead.textContent.includes('p99.9'));
         table.id = 'sorted'; table.closest('details').open = true; 0",
    );
    let before = column(0);
    let head = "#sorted th:nth-of-type(1) button";
    browser.point(head, (0.5, 0.5), true);
    let up = column(0);
    browser.point(head, (0.5, 0.5), true);
    let down = column(0);
    let turned: Vec<Value> = up.as_array().unwrap().iter().rev().cloned().collect();
    assert_eq!(down, Value::from(turned));
    browser.point(head, (0.5, 0.5), true);
    assert_eq!(column(0), before);
    // Latencies are sorted by value, whatever unit they are shown in.
    browser.point("#sorted th:nth-of-type(2) button", (0.5, 0.5), true);
    let kept = browser.value(
        "[...document.querySelectorAll('#sorted tbody tr')].map((row) => \
         Number(row.cells[2].dataset.value))",
    );
    let kept: Vec<f64> = kept
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    assert!(kept.len() > 1 && kept.is_sorted(), "{kept:?}");
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Gives each record of a site another host and preset.
fn varied(number: u32, record: &mut Record) {
    record.host.hostname = format!("host-{number}");
    record.spec.preset = number.is_multiple_of(2).then(|| "mail-1".to_owned());
}

#[test]
fn lists_of_a_site_are_filtered_with_and_without_script() {
    if needed().is_none() {
        return;
    }
    let browser = Browser::start();
    browser.wide(1280);
    let shown = || {
        browser.value(
            "[...document.querySelectorAll('tbody tr')].filter((row) => row.offsetHeight > \
             0).length",
        )
    };
    browser.open(&runs(&site(9, varied), Order::Begun).unwrap());
    assert_eq!(shown(), 9);
    browser.point("#f0-1", (0.5, 0.5), true);
    assert_eq!(shown(), 4);
    browser.open(&runs(&site(300, varied), Order::Begun).unwrap());
    assert_eq!(shown(), 200);
    browser
        .text("[role=status]")
        .shows("300 of 300 entries, 200 shown");
    browser.value(
        "(() => { const search = document.querySelector('input[type=search]'); search.value = \
         'HOST-29'; search.dispatchEvent(new Event('input')); return 0; })()",
    );
    // Hosts 29 and 290 to 299.
    assert_eq!(shown(), 11);
    browser.point("thead th:nth-of-type(7) button", (0.5, 0.5), true);
    assert_eq!(
        browser.value("document.querySelector('tbody td:nth-of-type(6)').textContent"),
        "290"
    );
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Presses the copy button, and returns the text that the button shows afterwards.
fn copied(browser: &Browser) -> String {
    browser.point("button.copy", (0.5, 0.5), true);
    let changed = "new Promise((done) => { const look = () => \
                   document.querySelector('button.copy').textContent === 'Copy'
        ? setTimeout(look, 20) : done(document.querySelector('button.copy').textContent); look(); \
                   })";
    browser.value(changed).as_str().unwrap().to_owned()
}

#[test]
fn command_is_copied_or_selected_if_copying_is_forbidden() {
    if needed().is_none() {
        return;
    }
    let browser = Browser::start();
    browser.wide(1280);
    let page = of_run();
    let allowed = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
    browser.tools("Browser.grantPermissions", allowed);
    browser.open(&page);
    let command = browser.text("pre");
    command.begins_with("postmark run --");
    assert_eq!(copied(&browser), "Copied");
    assert_eq!(browser.value("navigator.clipboard.readText()"), command);
    browser.open(&page);
    browser
        .value("navigator.clipboard.writeText = () => Promise.reject(new Error('forbidden')); 0");
    assert_eq!(copied(&browser), "Selected");
    assert_eq!(browser.value("getSelection().toString()"), command);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn page_of_a_hundred_runs_is_usable_within_a_second() {
    if needed().is_none() {
        return;
    }
    let browser = Browser::start();
    browser.wide(1280);
    let page = page_of_a_hundred();
    // At the time `domContentLoadedEventEnd`, the script has run. The best of several attempts
    // counts, because other tests run at the same time.
    let ready = (0..5).map(|_| {
        browser.open(&page);
        let ready =
            browser.value("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd");
        ready.as_f64().unwrap()
    });
    let ready: Vec<f64> = ready.collect();
    println!("ready after {ready:?} ms");
    let best = ready.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(best > 0.0 && best < 1_000.0, "{ready:?} ms");
    // Measures the time to sort a table and to show a run.
    let took = browser.value(
        "(() => { const began = performance.now(); document.querySelector('thead button').click();
           location.hash = document.querySelector('a[href^=\"#run-\"]').getAttribute('href'); \
         document.body.offsetHeight;
           return performance.now() - began; })()",
    );
    assert!(took.as_f64().unwrap() < 1_000.0, "{took} ms");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn page_is_usable_with_the_keyboard_only() {
    if needed().is_none() {
        return;
    }
    let browser = Browser::start();
    browser.wide(1280);
    browser.open(&of_run());
    let mut seen = Vec::new();
    let wanted =
        browser.value("document.querySelectorAll('a, button, summary, [tabindex]').length");
    for _ in 0..wanted.as_u64().unwrap() {
        browser.press("Tab");
        let at = browser.value(
            "(() => { const at = document.activeElement; const style = getComputedStyle(at);
               return {tag: at.tagName, name: at.getAttribute('aria-label') || \
             at.textContent.trim().slice(0, 60),
                       role: at.getAttribute('role'), outline: style.outlineStyle}; })()",
        );
        if at["tag"] == "BODY" {
            break;
        }
        assert_eq!(at["outline"], "solid", "the focus is not seen: {at}");
        assert_ne!(at["name"], "", "{at}");
        if at["name"] == "Rate over time" {
            browser.press("ArrowRight");
            browser.press("ArrowRight");
            let told = browser.text("[role=status]");
            told.shows("all operations: 40");
            browser.press("End");
            assert_ne!(browser.text("[role=status]"), told);
        }
        if at["role"] == "button" && at["name"] == "all operations" {
            browser.press(" ");
            assert_eq!(
                browser.value("document.activeElement.getAttribute('aria-pressed')"),
                "false"
            );
            browser.press("Enter");
            assert_eq!(
                browser.value("document.activeElement.getAttribute('aria-pressed')"),
                "true"
            );
        }
        if at["tag"] == "BUTTON" && at["name"] == "operation" {
            browser.press("Enter");
            assert_eq!(
                browser.value("document.activeElement.closest('th').getAttribute('aria-sort')"),
                "ascending"
            );
        }
        if at["tag"] == "SUMMARY" {
            browser.press("Enter");
            assert_eq!(
                browser.value("document.activeElement.parentElement.open"),
                true
            );
        }
        seen.push(at["name"].as_str().unwrap().to_owned());
    }
    for name in [
        "Rate over time",
        "all operations",
        "Workload",
        "Environment",
        "Copy",
    ] {
        assert!(
            seen.iter().any(|one| one == name),
            "{name} is not reached: {seen:?}"
        );
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn page_works_in_dark_mode_in_print_and_without_script() {
    if needed().is_none() {
        return;
    }
    let browser = Browser::start();
    browser.wide(1280);
    let (one, other) = (kept(), over_time(40, &[Action::Read]));
    let (json, other_json) = (verdict::to_json(&one), verdict::to_json(&other));
    browser.open(&page(&[run(&one, &json), run(&other, &other_json)]));
    browser.point("nav li:nth-child(2) a", (0.5, 0.5), true);
    assert_eq!(browser.value("location.hash"), "#run-2");
    let top = browser.value("document.querySelector('#run-2').getBoundingClientRect().top");
    assert!(top.as_f64().unwrap().abs() < 60.0, "{top}");
    let colour = "getComputedStyle(document.body).backgroundColor";
    browser.shown("screen", "light");
    assert_eq!(browser.value(colour), "rgb(255, 255, 255)");
    browser.shown("screen", "dark");
    assert_eq!(browser.value(colour), "rgb(13, 17, 23)");
    // Printed pages are white, and show sections that are collapsed on a screen.
    browser.shown("print", "dark");
    assert_eq!(browser.value(colour), "rgb(255, 255, 255)");
    let high = browser.value(
        "[...document.querySelectorAll('article > details')].map((one) => \
         one.getBoundingClientRect().height > 60)",
    );
    let high = high.as_array().unwrap();
    high.assert(!high.is_empty() && high.iter().all(|high| high == true));
    browser.shown("", "");
    let paper = browser.tools("Page.printToPDF", json!({"printBackground": true}));
    let paper = BASE64_STANDARD
        .decode(paper["data"].as_str().unwrap())
        .unwrap();
    assert!(
        paper.starts_with(b"%PDF") && paper.len() > 20_000,
        "{} bytes",
        paper.len()
    );
    assert_eq!(browser.complaints(), [""; 0]);
    // With scripts disabled, the page must show its charts and tables, and no buttons.
    browser.tools(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    );
    browser.open(&of_run());
    assert!(browser.text(".strip").contains("p99 latency"));
    let counts = browser.value(
        "['svg', 'table', 'pre', 'button'].map((name) => document.querySelectorAll(name).length)",
    );
    counts.assert(counts[0].as_u64() > Some(5) && counts[1].as_u64() > Some(5));
    assert_eq!((&counts[2], &counts[3]), (&json!(1), &json!(0)));
}

/// Returns a reduced grey image (PNG in base64) of the charts as a browser draws them. Texts are
/// hidden, because fonts depend on the machine.
fn drawn(browser: &Browser, record: &Record) -> String {
    browser.wide(1280);
    browser.shown("screen", "light");
    browser.open(&page_of(record));
    browser.value(
        "const style = document.body.appendChild(document.createElement('style'));
         style.textContent = 'svg text, figcaption { visibility: hidden } svg { width: 640px; \
         max-width: none } .figures { display: block }'; 0",
    );
    let places = browser.value(
        "[...document.querySelectorAll('svg')].map((svg) => { const place = \
         svg.getBoundingClientRect();
           return [place.left, place.top + scrollY, place.width, place.height]; })",
    );
    let pictures: Vec<Value> = places
        .as_array()
        .unwrap()
        .iter()
        .map(|place| {
            let clip = json!({"x": place[0], "y": place[1], "width": place[2], "height": place[3],
                "scale": 1});
            let parameters = json!({"clip": clip, "captureBeyondViewport": true});
            browser.tools("Page.captureScreenshot", parameters)["data"].take()
        })
        .collect();
    let all = browser.value(&format!(
        "(async () => {{ const all = [];
           for (const data of {}) {{ const image = new Image(); image.src = \
         'data:image/png;base64,' + data; await image.decode(); all.push(image); }}
           const high = Math.round({COMPARED} * all[0].height / all[0].width);
           const canvas = document.createElement('canvas'); canvas.width = 2 * {COMPARED}; \
         canvas.height = high * Math.ceil(all.length / 2);
           const context = canvas.getContext('2d'); context.imageSmoothingQuality = 'high'; \
         context.filter = 'grayscale(1)';
           all.forEach((image, number) => context.drawImage(image, number % 2 * {COMPARED}, \
         Math.floor(number / 2) * high, {COMPARED}, high));
           return canvas.toDataURL('image/png').split(',')[1]; }})()",
        Value::from(pictures)
    ));
    all.as_str().unwrap().to_owned()
}

#[test]
fn charts_match_their_golden_image() {
    if needed().is_none() {
        return;
    }
    let browser = Browser::start();
    let drawn = drawn(&browser, &over_time(40, &[Action::Read, Action::Create]));
    let path = format!("{}/tests/golden/pictures.png", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, BASE64_STANDARD.decode(&drawn).unwrap()).unwrap();
    }
    let golden = BASE64_STANDARD.encode(std::fs::read(&path).unwrap());
    let differ = |one: &str, other: &str| {
        let share = browser.value(&format!(
            "(async () => {{ const pixels = async (data) => {{ const image = new Image(); \
             image.src = 'data:image/png;base64,' + data;
               await image.decode(); const canvas = document.createElement('canvas'); canvas.width \
             = image.width; canvas.height = image.height;
               const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);
               return context.getImageData(0, 0, image.width, image.height).data; }};
               const [one, other] = [await pixels({one:?}), await pixels({other:?})];
               if (one.length !== other.length) return 1;
               let differing = 0; for (let at = 0; at < one.length; at += 4) if (Math.abs(one[at] \
             - other[at]) > 32) differing += 1;
               return differing / (one.length / 4); }})()"
        ));
        share.as_f64().unwrap()
    };
    // Edges differ a little between versions of a browser.
    let share = differ(&drawn, &golden);
    assert!(share < 0.005, "{:.2} % of the pixels differ", share * 100.0);
    // Charts of other values must differ more, or the comparison would detect nothing.
    let other = self::drawn(&browser, &over_time(40, &[Action::Read]));
    assert!(
        differ(&other, &golden) > 0.005,
        "{}",
        differ(&other, &golden)
    );
}
