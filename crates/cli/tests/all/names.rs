//! A name is one type: in a crate, and among the types that crates have in public. Types are
//! structures, enumerations, unions, aliases and traits at the level of modules; those of tests are
//! not counted, and what is handed on is declared once.

use std::collections::BTreeMap;
use std::path::Path;

use syn::visit::Visit;
use syn::{Ident, Item, Visibility};

use crate::circles::{Crate, is_for_tests, sources};

/// The types that a file declares, and whether each is public.
#[derive(Default)]
struct Types(Vec<(String, bool)>);

impl<'a> Visit<'a> for Types {
    fn visit_item(&mut self, item: &'a Item) {
        let (name, visibility): (&Ident, &Visibility) = match item {
            Item::Struct(item) => (&item.ident, &item.vis),
            Item::Enum(item) => (&item.ident, &item.vis),
            Item::Union(item) => (&item.ident, &item.vis),
            Item::Type(item) => (&item.ident, &item.vis),
            Item::Trait(item) => (&item.ident, &item.vis),
            Item::Mod(item) if !is_for_tests(&item.attrs) => {
                return syn::visit::visit_item_mod(self, item);
            }
            _ => return,
        };
        self.0.push((
            name.to_string(),
            matches!(visibility, Visibility::Public(_)),
        ));
    }
}

/// What each name stands for, as `crate/module`: in each crate, and in public over all of them.
fn doubles<'a>(sources: impl Iterator<Item = (&'a str, &'a Path)>) -> Vec<String> {
    let mut public: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut doubles = Vec::new();
    for (name, source) in sources {
        let mut own: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (module, file) in Crate::read(source).files {
            let mut types = Types::default();
            types.visit_file(&syn::parse_file(&std::fs::read_to_string(file).unwrap()).unwrap());
            for (name_of_type, is_public) in types.0 {
                let declared = format!("{name}/{}", module.join("/"));
                if is_public {
                    public
                        .entry(name_of_type.clone())
                        .or_default()
                        .push(declared.clone());
                }
                own.entry(name_of_type).or_default().push(declared);
            }
        }
        doubles.extend(several(own));
    }
    doubles.extend(several(public));
    doubles.sort();
    doubles.dedup();
    doubles
}

fn several(types: BTreeMap<String, Vec<String>>) -> impl Iterator<Item = String> {
    types
        .into_iter()
        .filter(|(_, declared)| declared.len() > 1)
        .map(|(name, declared)| format!("{name}: {}", declared.join(", ")))
}

#[test]
fn a_name_is_one_type() {
    let sources = sources();
    let named = sources.iter().map(|source| {
        let name = source.parent().and_then(Path::file_name).unwrap();
        (name.to_str().unwrap(), source.as_path())
    });
    let doubles = doubles(named);
    assert!(doubles.is_empty(), "{}", doubles.join("\n"));
}

/// The search finds what it is for.
#[test]
fn a_double_is_found() {
    let [one, other] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let write = |text: &str| std::fs::write(one.path().join("a.rs"), text).unwrap();
    let found = || doubles([("one", one.path()), ("other", other.path())].into_iter());
    std::fs::write(
        one.path().join("lib.rs"),
        "mod a; pub use a::A; pub struct B; mod inner { pub enum C {} } #[cfg(test)] mod tests { \
         struct A; struct B; }",
    )
    .unwrap();
    std::fs::write(
        other.path().join("lib.rs"),
        "pub use one::A; struct B; impl I for B { type C = u32; }",
    )
    .unwrap();
    write("pub struct A;");
    assert_eq!(found(), [] as [String; 0]);
    for (text, expected) in [
        ("pub struct A; type B = A;", "B: one/, one/a"),
        ("pub struct A; trait C {}", "C: one/, one/a"),
    ] {
        write(text);
        assert_eq!(found(), [expected]);
    }
    write("pub struct A;");
    std::fs::write(other.path().join("lib.rs"), "pub union B { one: u32 }").unwrap();
    assert_eq!(found(), ["B: one/, other/"]);
}
