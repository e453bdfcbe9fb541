//! A run that goes on a page, and what is made of runs.

use archive::{NoteText, Remarks};
use document::Document;
use record::Record;
use report::figures::{PaperFigure, run_figures};
use report::page::{PageRun, fits};

use crate::commands::published::beside_on_page;
use crate::ui::problem::Problem;

/// What `report` writes.
pub struct PageFiles {
    /// The HTML file, which can be read again.
    pub page: String,
    /// Its pictures, where they were asked for.
    pub figures: Vec<PaperFigure>,
}

impl PageFiles {
    /// A page, and its figures if they are wanted: they are drawn once more.
    ///
    /// # Errors
    /// Where the page could not be read again.
    pub fn of(
        page: String,
        figures: Option<impl FnOnce() -> Vec<PaperFigure>>,
    ) -> Result<Self, Problem> {
        fits(&page)?;
        let figures = figures.map_or_else(Vec::new, |figures| figures());
        Ok(Self { page, figures })
    }
}

/// Its record, what somebody has said of it, and the document with both.
pub struct ArchivedRun {
    record: Record,
    remarks: Document,
    json: String,
    more: Document,
}

impl ArchivedRun {
    /// A record with its remarks.
    pub fn of(record: Record, remarks: &Remarks) -> Self {
        let mut said = Document::default();
        if !remarks.tags.is_empty() {
            let tags: Vec<String> = remarks.tags.iter().map(ToString::to_string).collect();
            said.words(format!("Tags: {}", tags.join(" ")));
        }
        if let Some(note) = remarks.note.as_ref().and_then(NoteText::text) {
            said.words(format!("Note: {note}"));
        }
        let json = remarks.document(&record);
        Self {
            record,
            remarks: said,
            json,
            more: Document::default(),
        }
    }

    /// The same with what was published of the same work.
    ///
    /// # Errors
    /// Where our own data are at fault.
    pub fn with_published(self) -> Result<Self, Problem> {
        let more = beside_on_page(&self.record)?;
        Ok(Self { more, ..self })
    }

    /// Its figures, with names that begin so.
    pub fn figures(&self, begin: &str) -> Vec<PaperFigure> {
        let mut figures = run_figures(&self.record, &self.more);
        for figure in &mut figures {
            figure.name.insert_str(0, begin);
        }
        figures
    }

    /// As pages take it.
    pub fn on_page(&self) -> PageRun<'_> {
        PageRun {
            record: &self.record,
            json: &self.json,
            remarks: self.remarks.clone(),
            more: self.more.clone(),
        }
    }
}
