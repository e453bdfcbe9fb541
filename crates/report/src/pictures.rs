//! Pictures as SVG, complete without script: scales, axes and marks. Colours, dashes and letters
//! are classes, which whoever shows the picture gives a style. Strings are escaped by
//! `document::harmless::html`; numbers are finite, whatever a record holds.

pub(crate) mod chart;
pub(crate) mod heat;
pub(crate) mod png;
pub(crate) mod rows;
pub(crate) mod scale;
