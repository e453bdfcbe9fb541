//! Charts as SVG, complete without script: scales, axes and marks. Colours, dashes and fonts are
//! CSS classes, and the file around a chart defines their style. Strings are escaped by
//! `document::sanitize::html`, and all numbers are finite, whatever a record contains.

pub(crate) mod chart;
pub(crate) mod heat;
pub(crate) mod png;
pub(crate) mod rows;
pub(crate) mod scale;
