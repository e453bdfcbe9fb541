//! Suggests known words that are similar to a mistyped one.

/// Minimum Jaro-Winkler similarity of a suggested word, from 0 to 1.
const SIMILAR_MIN: f64 = 0.75;

/// Returns the word that is most similar to `word`, ignoring case. Returns `None` if no word is
/// similar enough.
pub fn similar<'a>(word: &str, all: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let rated = all
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&word, &known.to_lowercase()), known));
    let best = rated.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best.0 >= SIMILAR_MIN).then_some(best.1)
}
