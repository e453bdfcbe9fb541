//! No two files of a crate need one another, however many lie between them. A file needs another
//! where it names an item of it; that a parent declares its child is nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, UseTree};
use testkit::Assert;

/// A module by its path within the crate: empty is the crate itself.
pub type Module = Vec<String>;

/// What the files of a crate are, by their modules.
pub struct Crate {
    pub files: BTreeMap<Module, PathBuf>,
}

impl Crate {
    pub fn read(source: &Path) -> Self {
        let mut files = BTreeMap::new();
        add_files(source, &Module::new(), &mut files);
        Self { files }
    }

    /// The file that a path in a module leads to: the module that is farthest along it.
    fn file_of(&self, within: &Module, path: &[String]) -> Option<Module> {
        let mut rest = path;
        let mut module = match path.first()?.as_str() {
            "crate" => Module::new(),
            "self" | "super" => within.clone(),
            child => {
                let known = [&within[..], &[child.to_owned()]].concat();
                self.files.contains_key(&known).then(|| within.clone())?
            }
        };
        while let Some(("crate" | "self" | "super", more)) = rest
            .split_first()
            .map(|(first, more)| (first.as_str(), more))
        {
            if rest[0] == "super" {
                module.pop();
            }
            rest = more;
        }
        for name in rest {
            let next = [&module[..], std::slice::from_ref(name)].concat();
            if !self.files.contains_key(&next) {
                break;
            }
            module = next;
        }
        self.files.contains_key(&module).then_some(module)
    }

    /// The files whose items a file names.
    fn needs(&self, module: &Module) -> BTreeSet<Module> {
        let text = std::fs::read_to_string(&self.files[module]).unwrap();
        let mut paths = Paths::default();
        paths.visit_file(&syn::parse_file(&text).unwrap());
        let files = paths.0.iter().filter_map(|path| self.file_of(module, path));
        files.filter(|file| file != module).collect()
    }

    /// The files that lead back to themselves, with a way.
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

/// The paths that a file names, outside of its tests.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl Paths {
    fn of_use(&mut self, before: &[String], tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                let before = [before, &[path.ident.to_string()]].concat();
                self.of_use(&before, &path.tree);
            }
            UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|tree| self.of_use(before, tree)),
            UseTree::Name(name) => self.0.push([before, &[name.ident.to_string()]].concat()),
            UseTree::Rename(name) => self.0.push([before, &[name.ident.to_string()]].concat()),
            UseTree::Glob(_) => self.0.push(before.to_vec()),
        }
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
            // What a file only hands on is needed by whoever takes it.
            Item::Use(shared) if !matches!(shared.vis, syn::Visibility::Inherited) => {}
            Item::Use(own) => self.of_use(&[], &own.tree),
            item => syn::visit::visit_item(self, item),
        }
    }

    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        // A parent may call a child that it has declared.
        let first = path.segments[0].ident.to_string();
        if path.leading_colon.is_none() && ["crate", "self", "super"].contains(&first.as_str()) {
            self.0.push(
                path.segments
                    .iter()
                    .map(|segment| segment.ident.to_string())
                    .collect(),
            );
        }
        syn::visit::visit_path(self, path);
    }
}

/// The sources of every crate.
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
fn files_of_a_crate_do_not_need_one_another() {
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

/// The search finds what it is for.
#[test]
fn a_circle_is_found() {
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
    found.assert(found.contains(&"crate::a -> crate::b -> crate::c -> crate::a".to_owned()));
}
