//! Suggests known words that are similar to a mistyped one.

/// Minimum Jaro-Winkler similarity of a suggested word, from 0 to 1.
const SIMILAR_MIN: f64 = 0.75;

/// Returns the word that is most similar to `word`, ignoring case. Returns `None` if no word is
/// similar enough.
pub fn similar<'a>(word: &str, all: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    most_similar(word, all).into_iter().next()
}

/// Returns all words that are similar enough to `word`, ignoring case; the most similar word first.
pub fn most_similar<'a>(word: &str, all: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let rated = all
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&word, &known.to_lowercase()), known));
    let mut similar: Vec<(f64, &str)> = rated
        .filter(|(similarity, _)| *similarity >= SIMILAR_MIN)
        .collect();
    similar.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    similar.into_iter().map(|(_, known)| known).collect()
}
