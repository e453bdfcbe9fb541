//! A browser for tests: Chromium, controlled through Debian's chromium-driver with WebDriver
//! commands and the protocol of its developer tools.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit for an answer of the WebDriver program.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A browser with one window. The browser ends when this value is dropped.
pub struct Browser {
    agent: ureq::Agent,
    driver: Child,
    session: String,
    place: TempDir,
}

/// Returns the path of axe-core if Chromium, its WebDriver program and axe-core exist. Otherwise
/// returns `None` and prints the reason, or panics if all tests are required.
pub fn needed() -> Option<PathBuf> {
    let found = look();
    let all = std::env::var_os("CI").is_some()
        || std::env::var_os("POSTMARK_TEST_ALL").is_some_and(|all| all == "1");
    found
        .inspect_err(|why| {
            assert!(!all, "{why}");
            eprintln!("skipped: {why}");
        })
        .ok()
}

fn look() -> Result<PathBuf, String> {
    for program in ["chromedriver", "chromium"] {
        let answer = Command::new(program).arg("--version").output();
        answer.map_err(|error| {
            format!("{program}: {error} (apt-get install chromium chromium-driver)")
        })?;
    }
    let place = std::env::var_os("POSTMARK_AXE").map(PathBuf::from);
    let axe = place.unwrap_or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/axe-core/package/axe.min.js")
    });
    match axe.exists() {
        true => Ok(axe),
        false => Err(format!(
            "{}: not there ('.ci/common' installs it; or set POSTMARK_AXE)",
            axe.display()
        )),
    }
}

impl Browser {
    pub fn start() -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let told = BufReader::new(driver.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let port = told
            .filter_map(|line| {
                line.split_once("successfully on port ")
                    .map(|(_, port)| port.to_owned())
            })
            .map(|port| port.trim_end_matches('.').to_owned())
            .next()
            .expect("the driver's port");
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER_MAX))
            .http_status_as_error(false);
        let mut browser = Self {
            agent: config.build().into(),
            driver,
            session: format!("http://127.0.0.1:{port}/session"),
            place,
        };
        let profile = format!(
            "--user-data-dir={}",
            browser.place.path().join("profile").display()
        );
        let words = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            &profile,
        ];
        let answer = browser.command(
            "",
            &json!({"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": {"args": words},
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }}}),
        );
        let id = answer["sessionId"].as_str().expect("a session");
        browser.session = format!("{}/{id}", browser.session);
        browser
    }

    /// Opens a page from a file, as a recipient of the page would.
    pub fn open(&self, page: &str) {
        let path = self.place.path().join("page.html");
        std::fs::write(&path, page).unwrap();
        self.command(
            "/url",
            &json!({"url": format!("file://{}", path.display())}),
        );
    }

    /// Sends a WebDriver command; panics if the answer is an error.
    fn command(&self, path: &str, body: &Value) -> Value {
        let request = self.agent.post(format!("{}{path}", self.session));
        let mut answer = request.send(&body.to_string()).unwrap();
        let text = answer
            .body_mut()
            .with_config()
            .limit(64 << 20)
            .read_to_string()
            .unwrap();
        let mut answer: Value = serde_json::from_str(&text).unwrap();
        assert!(
            answer["value"]["error"].is_null(),
            "{path} {body:.200}: {text}"
        );
        answer["value"].take()
    }

    /// Sends a command of the developer tools' protocol.
    pub fn tools(&self, command: &str, parameters: Value) -> Value {
        self.command(
            "/goog/cdp/execute",
            &json!({"cmd": command, "params": parameters}),
        )
    }

    /// The value of a JavaScript expression in the page, or the result of its promise.
    pub fn value(&self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.tools("Runtime.evaluate", parameters);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression:.200}: {answer}"
        );
        answer["result"]["value"].take()
    }

    pub fn text(&self, selector: &str) -> String {
        let text = self.value(&format!("document.querySelector({selector:?}).textContent"));
        text.as_str()
            .unwrap_or_else(|| panic!("{selector}: {text}"))
            .to_owned()
    }

    /// Sets the width of the window, in pixels.
    pub fn wide(&self, width: u32) {
        let parameters =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.tools("Emulation.setDeviceMetricsOverride", parameters);
    }

    /// Emulates screen or paper, with light or dark colours.
    pub fn shown(&self, media: &str, colours: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": colours}]);
        self.tools(
            "Emulation.setEmulatedMedia",
            json!({"media": media, "features": features}),
        );
    }

    /// Moves the pointer to a position in an element, and clicks there if `is_press` is true. The
    /// coordinates are fractions of the element's width and height.
    pub fn point(&self, selector: &str, (x, y): (f64, f64), is_press: bool) {
        let place = self.value(&format!(
            "(() => {{ const element = document.querySelector({selector:?}); \
             element.scrollIntoView({{block: 'center'}});
              const place = element.getBoundingClientRect();
              return [place.left + {x} * place.width, place.top + {y} * place.height]; }})()"
        ));
        let event = |kind: &str| {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            self.tools(
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": place[0], "y": place[1], "button": button,
                    "clickCount": 1}),
            );
        };
        event("mouseMoved");
        if is_press {
            event("mousePressed");
            event("mouseReleased");
        }
    }

    /// Presses a key, given by its name (such as `Tab`, `Enter` or `ArrowRight`) or by its
    /// character.
    pub fn press(&self, key: &str) {
        let (text, code) = match key {
            "Enter" => ("\r", 13),
            " " => (" ", 32),
            "Tab" => ("", 9),
            "ArrowLeft" => ("", 37),
            "ArrowRight" => ("", 39),
            "End" => ("", 35),
            "Escape" => ("", 27),
            other => panic!("the key {other}"),
        };
        let event = |kind: &str, text: &str| {
            let parameters =
                json!({"type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code});
            self.tools("Input.dispatchKeyEvent", parameters);
        };
        event(
            if text.is_empty() {
                "rawKeyDown"
            } else {
                "keyDown"
            },
            text,
        );
        event("keyUp", "");
    }

    /// Returns new console messages and new requests, except requests for the page itself and for
    /// the first window of the browser.
    pub fn complaints(&self) -> Vec<String> {
        let lines = |kind: &str| {
            let log = self.command("/se/log", &json!({"type": kind}));
            log.as_array().cloned().unwrap_or_default()
        };
        let mut all: Vec<String> = lines("browser")
            .iter()
            .map(|line| line["message"].to_string())
            .collect();
        for line in lines("performance") {
            let event: Value =
                serde_json::from_str(line["message"].as_str().unwrap_or("{}")).unwrap();
            let asked = &event["message"]["params"]["request"]["url"];
            let is_request = event["message"]["method"] == "Network.requestWillBeSent";
            let is_own = asked.as_str().is_some_and(|url| {
                url.ends_with("/page.html")
                    || url.starts_with("data:image/")
                    || url.starts_with("chrome://")
            });
            if is_request && !is_own {
                all.push(format!("asked for {asked}"));
            }
        }
        all
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Errors while the browser ends are ignored, because the test itself has already passed or
        // failed.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
