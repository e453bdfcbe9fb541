//! Blocks, and the document that they are.

use crate::table::Table;

/// A text that is not broken, whatever its length: it has what somebody may copy, or is short.
pub fn kept(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// A piece of what is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading over much.
    Title(String),
    /// A heading over little.
    Heading(String),
    /// A heading of what follows without a line between.
    Head(String),
    /// A paragraph; nothing in it makes room.
    Words {
        /// How deep it stands below what it belongs to.
        depth: usize,
        /// Its text.
        text: String,
    },
    /// A paragraph of a list.
    Item {
        /// How deep it stands below what it belongs to.
        depth: usize,
        /// Its text.
        text: String,
    },
    /// A name and what it has.
    Pair {
        /// How deep it stands below what it belongs to.
        depth: usize,
        /// The name; none where the one above goes on.
        key: String,
        /// What it has.
        value: String,
    },
    /// What has to be known of a table or a number above, in brackets.
    Note {
        /// Stands before the text; its further lines stand below its first one.
        lead: &'static str,
        /// Its text.
        text: String,
    },
    /// What makes everything below worth less.
    Warning(String),
    /// A table.
    Table(Table),
    /// What can be typed or copied as it stands.
    Command(String),
    /// A picture.
    Picture(Picture),
    /// What few look for: folded where a reader can unfold it.
    Folded {
        /// Stands for it while it is folded, and is its heading otherwise.
        title: String,
        /// All of it.
        inside: Document,
    },
    /// A block with words in it that are painted where there is colour.
    Painted(Box<Block>, Vec<(String, Tone)>),
}

/// A picture, with what says the same to those who do not see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What is drawn, in a few words.
    pub title: String,
    /// What can be seen in it, in a sentence or two.
    pub caption: String,
    /// One `<svg>` element, complete. It is shown as it stands: whoever makes it escapes with
    /// [`sanitize::html`](crate::sanitize::html).
    pub svg: String,
    /// The same for a column of a paper: half as wide, with letters as large.
    pub narrow: String,
    /// The numbers that are drawn.
    pub data: Table,
}

/// What a word means for who looks for it first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The number that is asked for.
    Headline,
    /// All is well.
    Good,
    /// It may be wrong.
    Doubtful,
    /// It is wrong.
    Bad,
}

/// Blocks, one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document(Vec<Block>);

impl Document {
    /// Its blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.0
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a block.
    pub fn push(&mut self, block: Block) {
        self.0.push(block);
    }

    /// Paints words of the last block, where there is colour: of each its first place.
    pub fn paint(&mut self, words: Vec<(String, Tone)>) {
        if let Some(block) = self.0.pop() {
            self.push(Block::Painted(Box::new(block), words));
        }
    }

    /// Adds a heading over much.
    pub fn title(&mut self, text: impl Into<String>) {
        self.push(Block::Title(text.into()));
    }

    /// Adds a heading over little.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.push(Block::Heading(text.into()));
    }

    /// Adds a heading of what follows directly, in a line.
    pub fn head(&mut self, text: impl AsRef<str>) {
        self.push(Block::Head(kept(text.as_ref())));
    }

    /// Adds a paragraph.
    pub fn words(&mut self, text: impl Into<String>) {
        self.push(Block::Words {
            depth: 0,
            text: text.into(),
        });
    }

    /// Adds a line, which is not broken.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.words(kept(text.as_ref()));
    }

    /// Adds a line that belongs to the one above.
    pub fn below(&mut self, text: impl AsRef<str>) {
        self.push(Block::Words {
            depth: 1,
            text: kept(text.as_ref()),
        });
    }

    /// Adds room.
    pub fn gap(&mut self) {
        self.words("");
    }

    /// Adds a paragraph of a list.
    pub fn item(&mut self, text: impl Into<String>) {
        self.push(Block::Item {
            depth: 0,
            text: text.into(),
        });
    }

    /// Adds paragraphs of a list.
    pub fn items<T: Into<String>>(&mut self, texts: impl IntoIterator<Item = T>) {
        texts.into_iter().for_each(|text| self.item(text));
    }

    /// Adds a name and what it has in a line, at a depth.
    pub fn pair(&mut self, depth: usize, key: &str, value: impl AsRef<str>) {
        let (key, value) = (key.to_owned(), kept(value.as_ref()));
        self.push(Block::Pair { depth, key, value });
    }

    /// Adds a name and a sentence.
    pub fn sentence(&mut self, key: &str, value: impl Into<String>) {
        let (key, value) = (key.to_owned(), value.into());
        self.push(Block::Pair {
            depth: 0,
            key,
            value,
        });
    }

    /// Adds a name and items with commas between them, none of which is broken, behind the words
    /// that lead them; nothing where there are none.
    pub fn list<T: AsRef<str>>(&mut self, key: &str, lead: &str, items: &[T]) {
        let items: Vec<String> = items.iter().map(|item| kept(item.as_ref())).collect();
        if !items.is_empty() {
            self.sentence(key, kept(lead) + &items.join(", "));
        }
    }

    /// Adds what has to be known of what is above, in a line.
    pub fn note(&mut self, text: impl AsRef<str>) {
        let text = kept(text.as_ref());
        self.push(Block::Note { lead: "", text });
    }

    /// Adds what makes everything below worth less, in a line.
    pub fn warning(&mut self, text: impl AsRef<str>) {
        self.push(Block::Warning(kept(text.as_ref())));
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.push(Block::Table(table));
    }

    /// Adds a picture.
    pub fn figure(&mut self, figure: Picture) {
        self.push(Block::Picture(figure));
    }

    /// Adds what is folded; nothing where there is nothing in it.
    pub fn folded(&mut self, title: impl Into<String>, inside: Self) {
        if !inside.is_empty() {
            let title = title.into();
            self.push(Block::Folded { title, inside });
        }
    }

    /// Adds all of another one.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}
