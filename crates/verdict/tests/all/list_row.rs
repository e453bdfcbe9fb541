//! Tests that `by_word` returns the value for each name of a state, a kind of work or a device
//! class. An archive stores these names.

use system::Class;
use verdict::State;
use verdict::list_row::{WorkKind, by_word, class_name};

#[test]
fn every_list_name_is_parsed_to_its_value() {
    for state in [
        State::Going,
        State::Complete,
        State::Interrupted,
        State::PlaceGone,
        State::Failed,
        State::Unfinished,
    ] {
        assert_eq!(by_word(state.name()), Some(state));
    }
    for kind in [WorkKind::Classic, WorkKind::Mix] {
        assert_eq!(by_word(kind.name()), Some(kind));
    }
    for class in [
        Class::Memory,
        Class::Overlay,
        Class::Network,
        Class::Block,
        Class::Other,
    ] {
        assert_eq!(by_word(class_name(class)), Some(class));
    }
    assert_eq!(by_word::<State>("none"), None);
}
