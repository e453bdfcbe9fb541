//! The targets of a study: directories that are there, and file systems that it makes.

use campaign::study::{Course, Ready};
use study::{Cell, Design};

use crate::problem::Problem;

/// See the module's text.
pub struct Targets {}

impl Targets {
    /// The targets of a design. Nothing is made yet.
    ///
    /// # Errors
    /// Where something is missing that they need.
    pub fn new(_: &Design, _: &[Cell]) -> Result<Self, Problem> {
        Ok(Self {})
    }

    /// Directories with the room that is taken in them, in bytes, and the targets that need root.
    pub fn needs(&self) -> (Vec<(String, u64)>, Vec<String>) {
        (Vec::new(), Vec::new())
    }

    /// The target of a cell, in the state that each of its runs begins with.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn ready(&mut self, course: Course<'_>, cell: usize) -> Result<Ready, Problem> {
        let at = &course.design.targets[course.cells[cell].target].at;
        Ok(Ready {
            directory: at.into(),
            made: None,
            is_churned: false,
        })
    }

    /// Keeps the state with the churned pool.
    ///
    /// # Errors
    /// Where it cannot be kept.
    pub fn keep_state(&mut self, course: Course<'_>, cell: usize) -> Result<Ready, Problem> {
        self.ready(course, cell)
    }

    /// Removes what was made.
    pub fn remove(&mut self) {}
}
