// SPDX-License-Identifier: Apache-2.0
//! Uses everything of the crate. KitTests.swift calls it; everything.py does the same.
use searchlight_extension::*;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::raw::{c_int, c_void};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

struct Everything {
    host: Host,
}

impl Extension for Everything {
    fn new(host: Host) -> Result<Self, Error> {
        Ok(Everything { host })
    }
}

impl Everything {
    fn donate(&self, identifiers: &[&str]) -> Result<(), Error> {
        let mut batch = Batch::new(&self.host);
        for identifier in identifiers {
            batch.add(&self.item(identifier)?)?;
        }
        batch.commit()
    }

    fn item(&self, identifier: &str) -> Result<Item, Error> {
        let mut item = Item::new(&self.host, identifier, Some("things"), Some("public.text"))?;
        item.set("title", format!("Title of {}", identifier))?;
        item.set("keywords", &["one", "two"][..])?;
        item.set("pageCount", 7)?;
        item.set("rating", 4.5)?;
        item.set("com_example_open", true)?;
        item.set("contentCreationDate", UNIX_EPOCH + Duration::from_millis(1_000_500))?;
        item.set("com_example_bytes", &[0u8, 1][..])?;
        item.set("com_example_flavour", "cardamom")?;
        item.set_traits("com_example_flavour", 1 | 2)?;
        item.expire(UNIX_EPOCH + Duration::from_secs(4_000_000_000))?;
        Ok(item)
    }

    fn state(&self) -> Result<String, Error> {
        let batch = Batch::new(&self.host);
        let index = Some("notes");
        batch.commit_with(ClientState { index, state: Some(b"one"), ..Default::default() })?;
        let expectation = Expectation::State(b"other");
        let refused = batch.commit_with(ClientState { index, state: Some(b"two"), expectation });
        let state = self.host.read_client_state(index)?.unwrap_or_default();
        Ok(format!("{} {}", String::from_utf8_lossy(&state), number(refused)))
    }

    fn listing(&self) -> Result<String, Error> {
        let mut batch = Batch::new(&self.host);
        batch.rename(&[("first", "renamed")])?;
        batch.remove(&["second"])?;
        batch.remove_domains(&["nothing"])?;
        batch.commit()?;
        self.host.report_left_out("third", "it is locked");
        Ok(self.host.list_items(None, 1000)?.join(","))
    }

    fn encrypted(&self) -> Result<String, Error> {
        self.host.set_class("health", ProtectionClass::Complete)?;
        let mut batch = Batch::new(&self.host);
        batch.add(&self.item("pulse")?)?;
        let donated = number(batch.commit_with(ClientState { index: Some("health"), ..Default::default() }));
        let list = self.host.list_items_of(Some("health"), None, 10).unwrap_or_default();
        let unnamed = number(self.host.set_class("", ProtectionClass::Complete));
        let long = number(self.host.set_class(&"x".repeat(4097), ProtectionClass::Complete));
        Ok(format!("{} [{}] {} {}", donated, list.join(" "), unnamed, long))
    }
}

/// Returns the status of a result: that of its error, or 0.
fn number(result: Result<(), Error>) -> i32 {
    result.map_or_else(|error| error.status as i32, |_| 0)
}

impl Paging for Everything {
    fn reindex_page(&self, request: &Request, page: &Page<'_>) -> Result<Option<Vec<u8>>, Error> {
        request.check()?;
        request.report_progress(1, 2);
        match page.cursor {
            None => self.donate(&["first"]).map(|_| Some(b"second".to_vec())),
            Some(cursor) => self.donate(&[&String::from_utf8_lossy(cursor)]).map(|_| None),
        }
    }
}

impl Reindex for Everything {
    fn reindex_all(&self, _request: &Request) -> Result<(), Error> {
        Err(Error::new(Status::Failed, "a host that asks for pages does not ask for this"))
    }
    fn reindex_items(&self, _request: &Request, identifiers: &[&str]) -> Result<(), Error> {
        self.donate(identifiers)
    }
}

impl Encrypted for Everything {
    fn reindex_encrypted_items(
        &self,
        _request: &Request,
        index: &str,
        class: ProtectionClass,
        identifiers: &[&str],
    ) -> Result<(), Error> {
        for identifier in identifiers {
            self.donate(&[&format!("{} {} {}", index, class as i32, identifier)])?;
        }
        Ok(())
    }
}

impl Changes for Everything {
    fn update_files(&self, _request: &Request, changes: &[Change<'_>]) -> Result<(), Error> {
        for change in changes {
            match change {
                Change::Changed(path) => self.donate(&[&format!("1 {}", path)])?,
                Change::Moved { from, to } => self.donate(&[&format!("2 {}", from), &format!("2 {}", to)])?,
                Change::Removed(path) => self.donate(&[&format!("3 {}", path)])?,
            }
        }
        Ok(())
    }
}

/// 1000 bytes of each value.
struct Pattern(usize);

impl Read for Pattern {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for byte in buffer.iter_mut() {
            *byte = (self.0 / 1000) as u8;
            self.0 += 1;
        }
        Ok(buffer.len())
    }
}

impl Promises for Everything {
    fn provide_data(&self, _request: &Request, item: &str, _type: &str) -> Result<Vec<u8>, Error> {
        let text = match item {
            "state" => self.state()?,
            "listing" => self.listing()?,
            "encrypted" => self.encrypted()?,
            "printing" => {
                println!("printed by the kit");
                "printed".into()
            }
            "refused" => return Err(Error::new(Status::Refused, "not today")),
            "missing" => {
                let path = "/usr/share/there-is-none";
                File::open(path)
                    .map_err(|error| Error::new(Status::NotFound, format!("{}: {}", path, error)))?;
                "it is there".into()
            }
            "crash" => panic!("a fault of the author"),
            "bad_text" => {
                Item::new(&self.host, "a", None, None)?.set("title", "a\0b")?;
                "it was accepted".into()
            }
            "rights" => denied(),
            "where" => {
                let name = Path::new(self.host.bundle_path()).file_name().unwrap_or_default();
                format!("{} {}", self.host.bundle_identifier(), name.to_string_lossy())
            }
            _ => return Err(Error::new(Status::NotFound, format!("there is no {}", item))),
        };
        Ok(text.into_bytes())
    }

    fn provide_content(&self, request: &Request, item: &str, content_type: &str) -> Result<Content, Error> {
        let length = 300_000;
        Ok(match item {
            "stream" => Content::Stream { length, reader: Box::new(Pattern(0)) },
            "broken_stream" => Content::Stream { length, reader: Box::new(Pattern(0).take(5)) },
            "open_file" => {
                // O_TMPFILE: a file without a name.
                let mut file = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .mode(0o600)
                    .custom_flags(0o20200000)
                    .open(std::env::temp_dir())?;
                file.write_all(b"from a file without a name")?;
                Content::File(file)
            }
            _ => Content::Data(self.provide_data(request, item, content_type)?),
        })
    }

    fn provide_file(
        &self,
        _request: &Request,
        item: &str,
        _content_type: &str,
        in_place: bool,
    ) -> Result<ProvidedFile, Error> {
        let path = std::env::temp_dir().join("made.txt");
        fs::write(&path, format!("{} in place: {}", item, if in_place { "True" } else { "False" }))?;
        Ok(ProvidedFile { path: path.to_string_lossy().into_owned(), remove_after: true })
    }
}

const PNG: &str = "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489\
                   0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082";

impl Previews for Everything {
    fn preview(&self, _request: &Request, wanted: &PreviewRequest<'_>) -> Result<Preview, Error> {
        let image: Result<Vec<u8>, _> =
            (0..PNG.len()).step_by(2).map(|place| u8::from_str_radix(&PNG[place..place + 2], 16)).collect();
        let html =
            format!("<p>{} for {}</p><img src='cid:dot.png'>", wanted.item, wanted.query.unwrap_or(""));
        Ok(Preview {
            content_type: "public.html".into(),
            bytes: html.into_bytes(),
            title: Some("Shown".into()),
            size: (20.0, 10.0),
            attachments: vec![Attachment {
                identifier: "dot.png".into(),
                content_type: "public.png".into(),
                bytes: image.map_err(|error| Error::new(Status::Failed, error.to_string()))?,
            }],
        })
    }
}

impl Throttling for Everything {
    fn did_throttle(&self, notice: &Throttle) {
        self.host.log(LogLevel::Info, &format!("throttled to {}", notice.items_per_second));
    }
    fn did_finish_throttle(&self) {
        self.host.log(LogLevel::Warning, "not throttled");
    }
}

extern "C" {
    fn mmap(
        place: *mut c_void,
        length: usize,
        rights: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
}

/// Returns the names of the attempts that failed.
fn denied() -> String {
    let foreign = if Path::new("/root").exists() { "/root" } else { "/home" };
    // SAFETY: a new mapping, which nothing uses. PROT_READ | PROT_WRITE | PROT_EXEC, and
    // MAP_PRIVATE | MAP_ANONYMOUS.
    let mapping = unsafe { mmap(std::ptr::null_mut(), 4096, 7, 0x22, -1, 0) };
    let attempts = [
        ("program", Command::new("/bin/true").status().is_err()),
        ("connection", TcpStream::connect("127.0.0.1:9").is_err()),
        ("foreign_file", fs::read_dir(foreign).is_err()),
        ("executable_memory", mapping as isize == -1),
    ];
    let names: Vec<&str> = attempts.iter().filter(|attempt| attempt.1).map(|attempt| attempt.0).collect();
    names.join(",")
}

extension!(Everything, "com.example.everything", [Reindex, Encrypted, Paging, Changes, Promises, Previews, Throttling]);
