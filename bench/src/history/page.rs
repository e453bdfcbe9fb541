//! The measured tables as a part of a page in Markdown.

use std::path::Path;

use super::series::RUNS;
use crate::result::Result;

const BEGIN: &str = "<!-- Tables of 'bench history --page docs/reference/history.md'. -->\n";
const END: &str = "<!-- End of the tables. -->\n";

/// Lines of Markdown, which are also printed.
pub(super) struct Tables {
    text: String,
}

impl Tables {
    /// Begins the table of changes. `others` is the number of histories that Apache Otava analyses.
    pub(super) fn begin(series: u32, others: u32) -> Self {
        let mut tables = Self {
            text: String::new(),
        };
        let by_others = match others {
            0 => "Apache Otava did not run.".to_owned(),
            others => format!("Apache Otava analysed the first {others} of them."),
        };
        tables.line(&format!(
            "{series} histories of {RUNS} runs for each row. {by_others}"
        ));
        tables.line("");
        let groups = format!("{:29}{:34}Apache Otava", "", "history");
        let titles = "false  found  50 %  90 %   error";
        let head = format!("    disturbance noise  loss  {titles}");
        match others {
            0 => tables.line(&head),
            _ => {
                tables.line(&groups);
                tables.line(&format!("{head}  {titles}"));
            }
        }
        tables
    }

    /// Adds a line, and prints it.
    pub(super) fn line(&mut self, line: &str) {
        let line = line.trim_end();
        println!("{line}");
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Replaces the tables of an earlier measurement in a page.
    ///
    /// # Errors
    /// Returns an error if the page cannot be read or written, or has no such tables.
    pub(super) fn replace_in(&self, page: &Path) -> Result<()> {
        let old = std::fs::read_to_string(page)?;
        let parts = old.split_once(BEGIN).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(END)?;
            Some((before, after))
        });
        let (before, after) = parts.ok_or("the page has no tables to replace")?;
        let new = format!("{before}{BEGIN}\n{}\n{END}{after}", self.text);
        Ok(std::fs::write(page, new)?)
    }
}
