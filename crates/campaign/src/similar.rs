//! Words that resemble one another.

/// Words that are less alike than that are not offered; of 0 to 1.
const SIMILAR_MIN: f64 = 0.75;

/// Of all words the one that is most like it, whatever its case; nothing where none is.
pub fn similar<'a>(word: &str, all: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let rated = all
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&word, &known.to_lowercase()), known));
    let best = rated.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best.0 >= SIMILAR_MIN).then_some(best.1)
}
