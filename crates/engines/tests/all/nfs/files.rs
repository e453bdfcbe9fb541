//! The server's files in memory with the procedures of NFS version 3 and MOUNT, written from RFC
//! 1813 independently of the client.

use std::collections::{BTreeMap, HashMap};

use super::wire::{In, Out};

pub const NFS: u32 = 100_003;
pub const MOUNT: u32 = 100_005;

/// The node number of the exported root directory.
const ROOT: u64 = 2;

#[derive(Clone)]
pub enum Kind {
    File(Vec<u8>),
    Directory(BTreeMap<Vec<u8>, u64>),
    Link(Vec<u8>),
}

#[derive(Clone)]
pub struct Node {
    pub kind: Kind,
    pub mode: u32,
    pub links: u32,
    pub times: [(u32, u32); 2],
    /// The contents on stable storage, to which a restart resets the file.
    stable: Vec<u8>,
    created_by: Option<Vec<u8>>,
}

/// Deviations from the normal behavior of a server, for one call.
#[derive(Clone, Copy, Default)]
pub struct Whims {
    /// Maximum number of bytes that a READ or WRITE moves.
    pub short: Option<u32>,
    /// The stability that replies to WRITE report, instead of the requested stability.
    pub stable: Option<u32>,
    /// Replies contain no handle of a created file and no attributes.
    pub is_terse: bool,
    /// Maximum number of entries in a page.
    pub entries_max: Option<usize>,
    /// A listing is endless, and its cookies repeat after this number of entries.
    pub cookies: Option<u64>,
}

pub struct Files {
    pub nodes: HashMap<u64, Node>,
    next: u64,
    /// The server's time in seconds, which each change advances.
    pub clock: u32,
    pub verifier: u64,
    pub exports: Vec<Vec<u8>>,
    pub room_bytes: usize,
    /// The preferred transfer sizes that FSINFO reports: of READ and of WRITE.
    pub preferred: (u32, u32),
    pub has_links: bool,
}

type Answer = Result<Out, u32>;

impl Default for Files {
    fn default() -> Self {
        let mut files = Self {
            nodes: HashMap::new(),
            next: ROOT,
            clock: 1_000,
            verifier: 1,
            exports: vec![b"/export".to_vec()],
            room_bytes: 1 << 30,
            preferred: (64 << 10, 64 << 10),
            has_links: true,
        };
        files.add(Kind::Directory(BTreeMap::new()), 0o755);
        files
    }
}

impl Files {
    fn add(&mut self, kind: Kind, mode: u32) -> u64 {
        let number = self.next;
        self.next += 1;
        self.clock += 1;
        let node = Node {
            kind,
            mode,
            links: 1,
            times: [(self.clock, 0); 2],
            stable: Vec::new(),
            created_by: None,
        };
        self.nodes.insert(number, node);
        number
    }

    /// Loses uncommitted data, as a restarted server does.
    pub fn restart(&mut self) {
        self.verifier += 1;
        for node in self.nodes.values_mut() {
            if let Kind::File(content) = &mut node.kind {
                content.clone_from(&node.stable);
            }
        }
    }

    pub fn names(&self, path: &str) -> Vec<String> {
        match self.find(path).map(|node| &node.kind) {
            Some(Kind::Directory(entries)) => {
                let names = entries
                    .keys()
                    .map(|name| String::from_utf8_lossy(name).into_owned());
                names.collect()
            }
            _ => Vec::new(),
        }
    }

    pub fn find(&self, path: &str) -> Option<&Node> {
        let mut at = ROOT;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let Kind::Directory(entries) = &self.nodes.get(&at)?.kind else {
                return None;
            };
            at = *entries.get(name.as_bytes())?;
        }
        self.nodes.get(&at)
    }

    pub fn content(&self, path: &str) -> Option<Vec<u8>> {
        match &self.find(path)?.kind {
            Kind::File(content) => Some(content.clone()),
            Kind::Directory(_) | Kind::Link(_) => None,
        }
    }

    fn handle(number: u64) -> Out {
        // The length of 13 bytes is not a multiple of four, so the encoding contains padding.
        Out::default().bytes(&[&b"test"[..], &number.to_be_bytes(), b"x"].concat())
    }

    fn number(input: &mut In<'_>) -> u64 {
        let handle = input.bytes();
        u64::from_be_bytes(handle[4..12].try_into().unwrap())
    }

    fn attributes(&self, number: u64) -> Out {
        let node = &self.nodes[&number];
        let (kind, size) = match &node.kind {
            Kind::File(content) => (1, content.len()),
            Kind::Directory(_) => (2, 4096),
            Kind::Link(target) => (5, target.len()),
        };
        let out = Out::default()
            .u32(kind)
            .u32(node.mode)
            .u32(node.links)
            .u32(0)
            .u32(0);
        let out = out
            .u64(size as u64)
            .u64(size as u64)
            .u64(0)
            .u64(77)
            .u64(number);
        let [accessed, modified] = node.times;
        let stamp = |out: Out, time: (u32, u32)| out.u32(time.0).u32(time.1);
        stamp(stamp(stamp(out, accessed), modified), modified)
    }

    fn optional(&self, number: Option<u64>, whims: Whims) -> Out {
        match number.filter(|number| !whims.is_terse && self.nodes.contains_key(number)) {
            Some(number) => Out::default().u32(1).then(self.attributes(number)),
            None => Out::default().u32(0),
        }
    }

    fn changes(&self, number: u64, whims: Whims) -> Out {
        match whims.is_terse {
            true => Out::default().u32(0).u32(0),
            // The size and the times before the change are zeros.
            false => Out::default()
                .u32(1)
                .fixed(&[0; 24])
                .then(self.optional(Some(number), whims)),
        }
    }

    fn node(&mut self, number: u64) -> Result<&mut Node, u32> {
        self.nodes.get_mut(&number).ok_or(70)
    }

    fn entries(&mut self, number: u64) -> Result<&mut BTreeMap<Vec<u8>, u64>, u32> {
        match &mut self.node(number)?.kind {
            Kind::Directory(entries) => Ok(entries),
            Kind::File(_) | Kind::Link(_) => Err(20),
        }
    }

    fn file(&mut self, number: u64) -> Result<&mut Node, u32> {
        let node = self.node(number)?;
        match node.kind {
            Kind::File(_) => Ok(node),
            Kind::Directory(_) => Err(21),
            Kind::Link(_) => Err(22),
        }
    }

    /// Performs a call; returns the status and the results.
    pub fn perform(
        &mut self,
        program: u32,
        procedure: u32,
        input: &mut In<'_>,
        whims: Whims,
    ) -> Out {
        if program == MOUNT {
            let path = input.bytes();
            return match self.exports.contains(&path) {
                true => Out::default().u32(0).then(Self::handle(ROOT)).u32(1).u32(1),
                false => Out::default().u32(2),
            };
        }
        match self.procedure(procedure, input, whims) {
            Ok(out) => Out::default().u32(0).then(out),
            // The results contain no attributes: four zeros of 32 bits suffice for any procedure.
            Err(status) => Out::default().u32(status).u64(0).u64(0),
        }
    }

    fn procedure(&mut self, procedure: u32, input: &mut In<'_>, whims: Whims) -> Answer {
        let number = Self::number(input);
        self.node(number)?;
        match procedure {
            1 => Ok(self.attributes(number)),
            2 => self.set_attributes(number, input, whims),
            3 => self.look_up(number, input, whims),
            5 => match &self.node(number)?.kind {
                Kind::Link(target) => Ok(Out::default().u32(0).bytes(&target.clone())),
                Kind::File(_) | Kind::Directory(_) => Err(22),
            },
            6 => self.read(number, input, whims),
            7 => self.write(number, input, whims),
            8 => self.create(number, input, whims),
            9 | 10 => self.make(number, procedure, input, whims),
            12 | 13 => self.remove(number, procedure == 13, input, whims),
            14 => self.rename(number, input, whims),
            15 => self.link(number, input, whims),
            16 | 17 => self.list(number, procedure == 17, input, whims),
            18 => Ok(self
                .optional(Some(number), whims)
                .u64(1 << 40)
                .u64(1 << 39)
                .u64(1 << 38)
                .u64(9)
                .u64(9)
                .u64(9)
                .u32(0)),
            19 => {
                let (read, write) = self.preferred;
                let out = self
                    .optional(Some(number), whims)
                    .u32(1 << 20)
                    .u32(read)
                    .u32(1);
                Ok(out
                    .u32(1 << 20)
                    .u32(write)
                    .u32(1)
                    .u32(4096)
                    .u64(1 << 40)
                    .u64(1)
                    .u32(0x1b))
            }
            21 => {
                let Node {
                    kind: Kind::File(content),
                    stable,
                    ..
                } = self.file(number)?
                else {
                    return Err(22);
                };
                stable.clone_from(content);
                Ok(self.changes(number, whims).u64(self.verifier))
            }
            _ => Err(10_004),
        }
    }

    fn set(&mut self, number: u64, input: &mut In<'_>) -> Result<(), u32> {
        let now = self.clock + 1;
        self.clock = now;
        let node = self.node(number)?;
        let optional = |input: &mut In<'_>| (input.u32() == 1).then(|| input.u32());
        if let Some(mode) = optional(input) {
            node.mode = mode;
        }
        assert_eq!(
            (optional(input), optional(input)),
            (None, None),
            "owners are left as they are"
        );
        if input.u32() == 1 {
            let size = input.u64() as usize;
            if let Kind::File(content) = &mut node.kind {
                content.resize(size, 0);
                node.stable.clone_from(content);
            }
        }
        for time in &mut node.times {
            match input.u32() {
                0 => {}
                1 => *time = (now, 0),
                _ => *time = (input.u32(), input.u32()),
            }
        }
        Ok(())
    }

    fn set_attributes(&mut self, number: u64, input: &mut In<'_>, whims: Whims) -> Answer {
        self.set(number, input)?;
        assert_eq!(input.u32(), 0, "whatever its last change");
        Ok(self.changes(number, whims))
    }

    fn above(&self, number: u64) -> u64 {
        let is_above = |node: &Node| {
            matches!(&node.kind,
            Kind::Directory(entries) if entries.values().any(|inner| *inner == number))
        };
        let found = self.nodes.iter().find(|(_, node)| is_above(node));
        found.map_or(number, |(above, _)| *above)
    }

    fn look_up(&mut self, number: u64, input: &mut In<'_>, whims: Whims) -> Answer {
        let name = input.bytes();
        let found = match name.as_slice() {
            b"." => number,
            b".." => self.above(number),
            name => *self.entries(number)?.get(name).ok_or(2_u32)?,
        };
        Ok(Self::handle(found)
            .then(self.optional(Some(found), whims))
            .then(self.optional(Some(number), whims)))
    }

    fn read(&mut self, number: u64, input: &mut In<'_>, whims: Whims) -> Answer {
        let (offset, count) = (input.u64() as usize, input.u32() as usize);
        let Kind::File(content) = &self.file(number)?.kind else {
            return Err(22);
        };
        let begin = offset.min(content.len());
        let count = count.min(whims.short.map_or(usize::MAX, |short| short as usize));
        let end = content.len().min(begin + count);
        let (data, is_end) = (content[begin..end].to_vec(), end == content.len());
        let out = self
            .optional(Some(number), whims)
            .u32(data.len() as u32)
            .u32(is_end.into());
        Ok(out.bytes(&data))
    }

    fn write(&mut self, number: u64, input: &mut In<'_>, whims: Whims) -> Answer {
        let (offset, count, stable) = (input.u64() as usize, input.u32(), input.u32());
        let mut data = input.bytes();
        assert_eq!(data.len(), count as usize);
        data.truncate(whims.short.map_or(usize::MAX, |short| short as usize));
        let room = self.room_bytes;
        let Node {
            kind: Kind::File(content),
            stable: kept,
            ..
        } = self.file(number)?
        else {
            return Err(22);
        };
        let end = offset + data.len();
        if end > room {
            return Err(28);
        }
        content.resize(content.len().max(end), 0);
        content[offset..end].copy_from_slice(&data);
        let committed = whims.stable.unwrap_or(stable);
        if committed > 0 {
            kept.clone_from(content);
        }
        let out = self
            .changes(number, whims)
            .u32(data.len() as u32)
            .u32(committed);
        Ok(out.u64(self.verifier))
    }

    fn made(&self, made: u64, directory: u64, whims: Whims) -> Out {
        let handle = match whims.is_terse {
            true => Out::default().u32(0),
            false => Out::default().u32(1).then(Self::handle(made)),
        };
        handle
            .then(self.optional(Some(made), whims))
            .then(self.changes(directory, whims))
    }

    fn create(&mut self, number: u64, input: &mut In<'_>, whims: Whims) -> Answer {
        let (name, how) = (input.bytes(), input.u32());
        assert!(how == 1 || how == 2, "files are made that are not there");
        let verifier = (how == 2).then(|| input.fixed(8));
        if let Some(there) = self.entries(number)?.get(&name).copied() {
            let is_same = verifier.is_some() && self.nodes[&there].created_by == verifier;
            return if is_same {
                Ok(self.made(there, number, whims))
            } else {
                Err(17)
            };
        }
        let made = self.add(Kind::File(Vec::new()), 0o600);
        match verifier {
            None => self.set(made, input)?,
            // The server stores the verifier in the file's times.
            Some(_) => self.node(made)?.times = [(0xdead, 0xbeef); 2],
        }
        self.node(made)?.created_by = verifier;
        self.entries(number)?.insert(name, made);
        Ok(self.made(made, number, whims))
    }

    fn make(&mut self, number: u64, procedure: u32, input: &mut In<'_>, whims: Whims) -> Answer {
        let name = input.bytes();
        if self.entries(number)?.contains_key(&name) {
            return Err(17);
        }
        let made = self.add(Kind::Directory(BTreeMap::new()), 0o755);
        self.set(made, input)?;
        if procedure == 10 {
            self.node(made)?.kind = Kind::Link(input.bytes());
        }
        self.entries(number)?.insert(name, made);
        Ok(self.made(made, number, whims))
    }

    fn unlink(&mut self, number: u64) {
        let node = self.nodes.get_mut(&number).unwrap();
        node.links -= 1;
        if node.links == 0 {
            self.nodes.remove(&number);
        }
    }

    fn remove(
        &mut self,
        number: u64,
        is_directory: bool,
        input: &mut In<'_>,
        whims: Whims,
    ) -> Answer {
        let name = input.bytes();
        let found = *self.entries(number)?.get(&name).ok_or(2_u32)?;
        match (&self.nodes[&found].kind, is_directory) {
            (Kind::Directory(entries), true) if !entries.is_empty() => return Err(66),
            (Kind::Directory(_), true) | (Kind::File(_) | Kind::Link(_), false) => {}
            (Kind::Directory(_), false) => return Err(21),
            (Kind::File(_) | Kind::Link(_), true) => return Err(20),
        }
        self.entries(number)?.remove(&name);
        self.unlink(found);
        Ok(self.changes(number, whims))
    }

    fn rename(&mut self, from: u64, input: &mut In<'_>, whims: Whims) -> Answer {
        let (name, to, new) = (input.bytes(), Self::number(input), input.bytes());
        self.entries(to)?;
        let found = self.entries(from)?.remove(&name).ok_or(2_u32)?;
        if let Some(replaced) = self.entries(to)?.insert(new, found) {
            self.unlink(replaced);
        }
        Ok(self.changes(from, whims).then(self.changes(to, whims)))
    }

    fn link(&mut self, file: u64, input: &mut In<'_>, whims: Whims) -> Answer {
        let (directory, name) = (Self::number(input), input.bytes());
        if !self.has_links {
            return Err(10_004);
        }
        if self.entries(directory)?.contains_key(&name) {
            return Err(17);
        }
        self.entries(directory)?.insert(name, file);
        self.node(file)?.links += 1;
        Ok(self
            .optional(Some(file), whims)
            .then(self.changes(directory, whims)))
    }

    fn list(&mut self, number: u64, is_plus: bool, input: &mut In<'_>, whims: Whims) -> Answer {
        let (cookie, verifier) = (input.u64() as usize, input.u64());
        if is_plus {
            input.u32();
        }
        let room = input.u32() as usize;
        if cookie > 0 && verifier != 0x5eed {
            return Err(10_003);
        }
        if let Some(cookies) = whims.cookies {
            let mut entries = Out::default();
            let mut at = cookie as u64;
            for _ in 0..whims.entries_max.unwrap_or(200) {
                at = at % cookies + 1;
                let name = format!("postmark-1790000000-{at}-0");
                entries = entries.u32(1).u64(at + 10).bytes(name.as_bytes()).u64(at);
                if is_plus {
                    entries = entries.then(self.optional(Some(number), whims)).u32(0);
                }
            }
            let head = self.optional(Some(number), whims).u64(0x5eed);
            return Ok(head.then(entries).u32(0).u32(0));
        }
        let all: Vec<_> = self.entries(number)?.clone().into_iter().collect();
        let mut entries = Out::default();
        let mut at = cookie;
        let dots = [(b".".to_vec(), number), (b"..".to_vec(), number)];
        for (name, found) in dots.iter().chain(&all).skip(cookie) {
            let fits = entries.0.len() + 200 < room
                && whims.entries_max.is_none_or(|max| at - cookie < max);
            if !fits {
                break;
            }
            at += 1;
            entries = entries.u32(1).u64(*found).bytes(name).u64(at as u64);
            if is_plus {
                entries = entries.then(self.optional(Some(*found), whims));
                entries = match whims.is_terse {
                    true => entries.u32(0),
                    false => entries.u32(1).then(Self::handle(*found)),
                };
            }
        }
        let is_end = at == all.len() + 2;
        Ok(self
            .optional(Some(number), whims)
            .u64(0x5eed)
            .then(entries)
            .u32(0)
            .u32(is_end.into()))
    }
}
