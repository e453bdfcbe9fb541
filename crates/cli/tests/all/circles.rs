//! The files of a crate must not form a dependency cycle. A file depends on another file if it uses
//! an item of that file, or re-exports the item (`pub use`). A re-exported item belongs to the file
//! that defines it. The declaration of a child module (`mod child;`) is no dependency.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, UseTree};

/// A module as a path within the crate; an empty path is the crate root.
pub type Module = Vec<String>;

/// The paths that the files of a crate mention, by module.
struct Crate {
    files: BTreeMap<Module, Paths>,
}

impl Crate {
    fn read(source: &Path) -> Self {
        let read = |path: PathBuf| {
            let mut paths = Paths::default();
            paths.visit_file(&syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap());
            paths
        };
        let files = files_of(source)
            .into_iter()
            .map(|(module, path)| (module, read(path)));
        Self {
            files: files.collect(),
        }
    }

    /// The file that defines the item at a path. Usually this is the deepest module along the path;
    /// for a re-exported name, it is the file of the original item.
    fn file_of(&self, within: &Module, path: &[String]) -> Option<Module> {
        let mut module = within.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => module.clear(),
            "self" | "super" => {}
            child => {
                let child = [&within[..], &[child.to_owned()]].concat();
                self.files.contains_key(&child).then_some(())?;
            }
        }
        while let Some(("crate" | "self" | "super", more)) = rest
            .split_first()
            .map(|(first, more)| (first.as_str(), more))
        {
            if rest[0] == "super" {
                module.pop();
            }
            rest = more;
        }
        while let Some((name, more)) = rest.split_first() {
            let next = [&module[..], std::slice::from_ref(name)].concat();
            if !self.files.contains_key(&next) {
                break;
            }
            module = next;
            rest = more;
        }
        let file = self.files.get(&module)?;
        let taken = rest
            .first()
            .and_then(|name| file.uses.iter().find(|(known, _)| known == name));
        match taken {
            // For a name from another crate, `file_of` returns `None`.
            Some((_, path)) => self.file_of(&module, path),
            None => Some(module),
        }
    }

    /// The files of the same crate on which a file depends.
    fn needs(&self, module: &Module) -> BTreeSet<Module> {
        let paths = &self.files[module];
        let uses = paths.uses.iter().map(|(_, path)| path);
        uses.chain(&paths.named)
            .filter_map(|path| self.file_of(module, path))
            .filter(|file| file != module)
            .collect()
    }

    /// All dependency cycles, each as a chain of files.
    fn circles(&self) -> Vec<String> {
        let needs: BTreeMap<&Module, BTreeSet<Module>> = self
            .files
            .keys()
            .map(|module| (module, self.needs(module)))
            .collect();
        let way_back = |from: &Module| {
            let mut ways: Vec<Vec<&Module>> = needs[from].iter().map(|next| vec![next]).collect();
            let mut seen = BTreeSet::new();
            while let Some(way) = ways.pop() {
                let last = way[way.len() - 1];
                if last == from {
                    return Some(way);
                }
                if seen.insert(last) {
                    ways.extend(needs[last].iter().map(|next| [&way[..], &[next]].concat()));
                }
            }
            None
        };
        let named = |module: &Module| format!("crate::{}", module.join("::"));
        self.files
            .keys()
            .filter_map(|from| {
                let way: Vec<String> = way_back(from)?.into_iter().map(named).collect();
                Some(format!("{} -> {}", named(from), way.join(" -> ")))
            })
            .collect()
    }
}

pub fn files_of(source: &Path) -> BTreeMap<Module, PathBuf> {
    let mut files = BTreeMap::new();
    add_files(source, &Module::new(), &mut files);
    files
}

fn add_files(directory: &Path, module: &Module, files: &mut BTreeMap<Module, PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = [&module[..], std::slice::from_ref(&name)].concat();
        if path.is_dir() {
            add_files(&path, &inner, files);
        } else if module.is_empty() && (name == "lib" || name == "main") {
            files.insert(Module::new(), path);
        } else if name != "tests" {
            files.insert(inner, path);
        }
    }
}

/// The Rust paths (`a::b`) in a source file, except those in its tests.
#[derive(Default)]
struct Paths {
    /// Paths of `use` declarations, each with its local name. A glob import has no name.
    uses: Vec<(String, Vec<String>)>,
    named: Vec<Vec<String>>,
    /// Number of inline modules around the current item.
    depth: usize,
}

impl Paths {
    fn of_use(&mut self, before: &[String], tree: &UseTree) {
        let path = |last: &syn::Ident| match last.to_string().as_str() {
            "self" => before.to_vec(),
            last => [before, &[last.to_owned()]].concat(),
        };
        let (name, path) = match tree {
            UseTree::Path(next) => return self.of_use(&path(&next.ident), &next.tree),
            UseTree::Group(group) => {
                let trees = group.items.iter();
                return trees.for_each(|tree| self.of_use(before, tree));
            }
            UseTree::Name(name) => {
                let path = path(&name.ident);
                (path[path.len() - 1].clone(), path)
            }
            UseTree::Rename(name) => (name.rename.to_string(), path(&name.ident)),
            UseTree::Glob(_) => return self.named.push(before.to_vec()),
        };
        self.uses.push((name, path));
    }
}

pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|what| what.is_ident("test"))
    })
}

impl<'a> Visit<'a> for Paths {
    fn visit_item(&mut self, item: &'a Item) {
        match item {
            Item::Mod(ItemMod { attrs, .. }) if is_for_tests(attrs) => {}
            Item::Mod(ItemMod { content, .. }) if content.is_some() => {
                self.depth += 1;
                syn::visit::visit_item(self, item);
                self.depth -= 1;
            }
            Item::Use(own) => self.of_use(&[], &own.tree),
            item => syn::visit::visit_item(self, item),
        }
    }

    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let segments = path.segments.iter();
            let names: Vec<String> = segments.map(|segment| segment.ident.to_string()).collect();
            let above = names.iter().take_while(|name| *name == "super").count();
            // If every `super` leaves an inline module of this file, the path refers to an item of
            // the same file and is ignored.
            if above == 0 || above > self.depth {
                self.named.push(names[above.min(self.depth)..].to_vec());
            }
        }
        syn::visit::visit_path(self, path);
    }
}

/// The `src` directories of all crates.
pub fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let mut sources: Vec<PathBuf> = std::fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("src"))
        .collect();
    sources.push(root.join("bench/src"));
    sources
}

#[test]
fn files_of_a_crate_have_no_dependency_cycle() {
    let mut seen = 0;
    let mut circles = Vec::new();
    for source in sources() {
        let of_crate = Crate::read(&source);
        seen += of_crate.files.len();
        circles.extend(
            of_crate
                .circles()
                .into_iter()
                .map(|circle| format!("{}: {circle}", source.display())),
        );
    }
    assert!(seen > 200, "only {seen} files were found");
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

#[test]
fn dependency_cycle_is_found() {
    let source = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(source.path().join(name), text).unwrap();
    write("lib.rs", "mod a; mod b; mod c; pub use a::A;");
    write("a.rs", "use crate::b::B; pub struct A(B);");
    write(
        "b.rs",
        "pub struct B; fn b() { super::c::c(); } #[cfg(test)] mod tests { use crate::b::B; }",
    );
    write(
        "c.rs",
        "pub fn c() {} #[cfg(test)] mod tests { use crate::a::A; }",
    );
    assert!(Crate::read(source.path()).circles().is_empty());
    write(
        "c.rs",
        "use super::*; pub fn c() { let _: Option<crate::a::A> = None; }",
    );
    let found = Crate::read(source.path()).circles();
    assert!(
        found.contains(&"crate::a -> crate::b -> crate::c -> crate::a".to_owned()),
        "{found:?}"
    );
}
