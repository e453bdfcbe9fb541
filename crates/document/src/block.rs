//! Blocks of a document, and the document that contains them.

use crate::table::Table;

/// Replaces spaces by no-break spaces, so that the text is not wrapped. Callers use this function
/// for short texts, and for texts that users may copy.
pub fn kept(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading of the first level.
    Title(String),
    /// A heading of the second level.
    Heading(String),
    /// A heading directly above a table or paragraph, without an empty line between them.
    Head(String),
    /// A paragraph; an empty text produces an empty line.
    Words {
        /// Level of indentation, from 0. A block with details about another block is one level
        /// deeper.
        depth: usize,
        text: String,
    },
    /// An item of a list: one paragraph.
    Item {
        /// Level of indentation, from 0. A block with details about another block is one level
        /// deeper.
        depth: usize,
        text: String,
    },
    /// A name and its value in one line.
    Pair {
        /// Level of indentation, from 0. A block with details about another block is one level
        /// deeper.
        depth: usize,
        /// The name; empty if this value continues the value of the previous pair.
        key: String,
        value: String,
    },
    /// An explanation of the table or number above this block, printed in brackets.
    Note {
        /// A text before the explanation. Further lines are indented by its width, so that they are
        /// aligned with the first line.
        lead: &'static str,
        text: String,
    },
    /// A warning that applies to all blocks below it.
    Warning(String),
    Table(Table),
    /// A command that users can type or copy without changes.
    Command(String),
    Picture(Picture),
    /// Details that few readers need, which are collapsed if the format supports it.
    Folded {
        /// The text that a reader clicks to show the details; in formats without collapsing, the
        /// heading of the details.
        title: String,
        inside: Document,
    },
    /// A block in which some words are coloured if the output supports colours.
    Painted(Box<Block>, Vec<(String, Tone)>),
}

/// A chart as SVG, and its contents as text for readers who cannot see the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub title: String,
    /// A description of one or two sentences.
    pub caption: String,
    /// One complete `<svg>` element. Renderers do not escape the element, so the code that creates
    /// it must escape texts with [`sanitize::html`](crate::sanitize::html).
    pub svg: String,
    /// A version of `svg` for one column of a two-column paper: half as wide, but with letters of
    /// the same size.
    pub narrow: String,
    pub data: Table,
}

/// The meaning of a coloured word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The main result.
    Headline,
    /// A result without problems, such as a VALID verdict.
    Good,
    /// A result that may be wrong, such as a DOUBTFUL verdict.
    Doubtful,
    /// A wrong or failed result, such as an INVALID verdict or a count of errors.
    Bad,
}

/// A text independent of the output format: a sequence of blocks that each format renders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document(Vec<Block>);

impl Document {
    pub fn blocks(&self) -> &[Block] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push(&mut self, block: Block) {
        self.0.push(block);
    }

    /// Colours words of the last block, if the output supports colours. Only the first occurrence
    /// of each word is coloured.
    pub fn paint(&mut self, words: Vec<(String, Tone)>) {
        if let Some(block) = self.0.pop() {
            self.push(Block::Painted(Box::new(block), words));
        }
    }

    /// Adds a heading of the first level.
    pub fn title(&mut self, text: impl Into<String>) {
        self.push(Block::Title(text.into()));
    }

    /// Adds a heading of the second level.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.push(Block::Heading(text.into()));
    }

    /// Adds a heading in one line directly above the next block.
    pub fn head(&mut self, text: impl AsRef<str>) {
        self.push(Block::Head(kept(text.as_ref())));
    }

    pub fn words(&mut self, text: impl Into<String>) {
        self.push(Block::Words {
            depth: 0,
            text: text.into(),
        });
    }

    /// Adds a line, which is not wrapped.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.words(kept(text.as_ref()));
    }

    /// Adds a line, which is not wrapped, and which is indented by one level as a detail of the
    /// previous line.
    pub fn below(&mut self, text: impl AsRef<str>) {
        self.push(Block::Words {
            depth: 1,
            text: kept(text.as_ref()),
        });
    }

    /// Adds an empty line.
    pub fn gap(&mut self) {
        self.words("");
    }

    pub fn item(&mut self, text: impl Into<String>) {
        self.push(Block::Item {
            depth: 0,
            text: text.into(),
        });
    }

    pub fn items<T: Into<String>>(&mut self, texts: impl IntoIterator<Item = T>) {
        texts.into_iter().for_each(|text| self.item(text));
    }

    /// Adds a name and a value in one line, indented by `depth` levels.
    pub fn pair(&mut self, depth: usize, key: &str, value: impl AsRef<str>) {
        let (key, value) = (key.to_owned(), kept(value.as_ref()));
        self.push(Block::Pair { depth, key, value });
    }

    /// Adds a name and a sentence, which may be wrapped.
    pub fn sentence(&mut self, key: &str, value: impl Into<String>) {
        let (key, value) = (key.to_owned(), value.into());
        self.push(Block::Pair {
            depth: 0,
            key,
            value,
        });
    }

    /// Adds a name, a leading text and items separated by commas; lines break only between items.
    /// Adds nothing if there are no items.
    pub fn list<T: AsRef<str>>(&mut self, key: &str, lead: &str, items: &[T]) {
        let items: Vec<String> = items.iter().map(|item| kept(item.as_ref())).collect();
        if !items.is_empty() {
            self.sentence(key, kept(lead) + &items.join(", "));
        }
    }

    /// Adds an explanation of the previous block in one line.
    pub fn note(&mut self, text: impl AsRef<str>) {
        let text = kept(text.as_ref());
        self.push(Block::Note { lead: "", text });
    }

    /// Adds a warning, which is not wrapped, and which applies to all blocks below it.
    pub fn warning(&mut self, text: impl AsRef<str>) {
        self.push(Block::Warning(kept(text.as_ref())));
    }

    pub fn table(&mut self, table: Table) {
        self.push(Block::Table(table));
    }

    pub fn figure(&mut self, figure: Picture) {
        self.push(Block::Picture(figure));
    }

    /// Adds collapsed details, unless they are empty.
    pub fn folded(&mut self, title: impl Into<String>, inside: Self) {
        if !inside.is_empty() {
            let title = title.into();
            self.push(Block::Folded { title, inside });
        }
    }

    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}
