// SPDX-License-Identifier: Apache-2.0
//! Searchlight extensions in Rust: safe traits over `searchlight_extension.h`.
//!
//! An extension consists of a type that implements [`Extension`] and the traits of the interfaces
//! that it supports, and one macro that lists them:
//!
//! ```no_run
//! use searchlight_extension::*;
//!
//! struct Recipes {
//!     host: Host,
//! }
//!
//! impl Extension for Recipes {
//!     fn new(host: Host) -> Result<Self, Error> {
//!         Ok(Recipes { host })
//!     }
//! }
//!
//! impl Reindex for Recipes {
//!     fn reindex_all(&self, _request: &Request) -> Result<(), Error> {
//!         let mut batch = Batch::new(&self.host);
//!         batch.remove_all()?;
//!         let mut item = Item::new(&self.host, "pudding", Some("desserts"), Some("public.plain-text"))?;
//!         item.set("title", "Rice pudding")?;
//!         batch.add(&item)?;
//!         batch.commit()
//!     }
//!     fn reindex_items(&self, request: &Request, _identifiers: &[&str]) -> Result<(), Error> {
//!         self.reindex_all(request)
//!     }
//! }
//!
//! extension!(Recipes, "com.example.recipes", [Reindex]);
//! # fn main() {}
//! ```
//!
//! Each function runs on a host thread and may wait. Several requests may run at once, so an
//! extension must be `Sync`. An `Err` becomes the answer to the request; so does a panic, which
//! never crosses the interface.

#![warn(missing_docs)]

mod host;
#[doc(hidden)]
pub mod raw;
#[doc(hidden)]
pub mod tables;

pub use host::{Batch, ClientState, Expectation, Host, Item, LogLevel, ProtectionClass, Request, Value};

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::time::Duration;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// Any other failure.
    Failed = 1,
    /// The extension does not support this type or request.
    Unsupported = 2,
    /// There is no such item.
    NotFound = 3,
    /// The request was cancelled.
    Cancelled = 4,
    /// A malformed text or a wrong size.
    InvalidArgument = 5,
    /// The host, the index or the source is currently unreachable.
    Unavailable = 6,
    /// A limit, named in the message, was exceeded.
    TooLarge = 7,
    /// Understood, but not allowed.
    Refused = 8,
}

impl Status {
    pub(crate) fn from_raw(status: raw::Status) -> Status {
        match status {
            2 => Status::Unsupported,
            3 => Status::NotFound,
            4 => Status::Cancelled,
            5 => Status::InvalidArgument,
            6 => Status::Unavailable,
            7 => Status::TooLarge,
            8 => Status::Refused,
            _ => Status::Failed,
        }
    }
}

/// A failure: a kind, and a message that states what was attempted, what failed and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind.
    pub status: Status,
    /// The message.
    pub message: String,
}

impl Error {
    /// Creates an error.
    pub fn new(status: Status, message: impl Into<String>) -> Error {
        Error { status, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        let status = match error.kind() {
            std::io::ErrorKind::NotFound => Status::NotFound,
            _ => Status::Unavailable,
        };
        Error::new(status, error.to_string())
    }
}

/// The only object of the extension in its worker process.
pub trait Extension: Send + Sync + Sized + 'static {
    /// Creates the object. Must not wait for the network or the user, and must not donate anything.
    fn new(host: Host) -> Result<Self, Error>;
}

/// Donates items again.
pub trait Reindex: Extension {
    /// Donates all items, and returns once the last donation is durable. Items that are not donated
    /// remain, so call [`Batch::remove_all`] first; the removed items can still be found until the
    /// reindex ends.
    fn reindex_all(&self, request: &Request) -> Result<(), Error>;
    /// Donates each of these items again, or removes it.
    fn reindex_items(&self, request: &Request, identifiers: &[&str]) -> Result<(), Error>;
}

/// Donates items of encrypted indexes again, before they expire. From an extension without this
/// trait, the host requests them as other items.
pub trait Encrypted: Extension {
    /// Donates each of these items to the encrypted index again, or removes it there.
    fn reindex_encrypted_items(
        &self,
        request: &Request,
        index: &str,
        class: ProtectionClass,
        identifiers: &[&str],
    ) -> Result<(), Error>;
}

/// Donates all items in pages; use this to reindex large collections.
pub trait Paging: Extension {
    /// Donates one page. Returns the cursor of the next page (at most 4,096 bytes), or `None` after
    /// the last page. Nothing needs to be removed first.
    fn reindex_page(&self, request: &Request, page: &Page<'_>) -> Result<Option<Vec<u8>>, Error>;
}

/// Updates the items of changed files.
pub trait Changes: Extension {
    /// Donates, updates or removes the items of these files. Reads the current state of each file.
    fn update_files(&self, request: &Request, changes: &[Change<'_>]) -> Result<(), Error>;
}

/// Fulfils the promises of items. The user is waiting.
pub trait Promises: Extension {
    /// Converts an item to data of a type that the item promised.
    fn provide_data(&self, request: &Request, item: &str, content_type: &str) -> Result<Vec<u8>, Error>;
    /// Converts an item to large data. The host calls this function; it calls
    /// [`Promises::provide_data`] unless it is implemented.
    fn provide_content(&self, request: &Request, item: &str, content_type: &str) -> Result<Content, Error> {
        self.provide_data(request, item, content_type).map(Content::Data)
    }
    /// Provides an item as a file of a type that the item promised; `in_place` requests the
    /// original.
    fn provide_file(
        &self,
        _request: &Request,
        _item: &str,
        _content_type: &str,
        _in_place: bool,
    ) -> Result<ProvidedFile, Error> {
        Err(Error::new(Status::Unsupported, "this extension provides no files"))
    }
    /// Converts an item to a file that is open. The host calls this function; it calls
    /// [`Promises::provide_file`] unless it is implemented.
    fn provide_open_file(
        &self,
        request: &Request,
        item: &str,
        content_type: &str,
        in_place: bool,
    ) -> Result<FileContent, Error> {
        self.provide_file(request, item, content_type, in_place).map(FileContent::Path)
    }
}

/// Renders previews.
pub trait Previews: Extension {
    /// Renders an item. An error of the kind [`Status::Unsupported`] has the host show the item's
    /// attributes.
    fn preview(&self, request: &Request, wanted: &PreviewRequest<'_>) -> Result<Preview, Error>;
}

/// Receives notices of throttling.
pub trait Throttling: Extension {
    /// Stops non-urgent work within half a second.
    fn did_throttle(&self, notice: &Throttle);
    /// Throttling has ended.
    fn did_finish_throttle(&self) {}
}

/// The limits of a page, and the cursor at which it starts.
#[derive(Debug)]
pub struct Page<'a> {
    /// The cursor that the previous page returned; `None` for the first page.
    pub cursor: Option<&'a [u8]>,
    /// The memory limit in bytes. A worker that exceeds it is terminated.
    pub memory_limit: u64,
    /// The page ends after about this number of items,
    pub items: u32,
    /// or after this time, whichever comes first.
    pub time: Duration,
}

/// A change of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// The file is new, or its content or mode has changed.
    Changed(&'a str),
    /// The file has a new path, and its content may also have changed.
    Moved {
        /// The old path.
        from: &'a str,
        /// The new path.
        to: &'a str,
    },
    /// There is no longer a file at the path.
    Removed(&'a str),
}

/// The data that fulfils a promise.
pub enum Content {
    /// Bytes in memory.
    Data(Vec<u8>),
    /// An open regular file, which is read from its start.
    File(File),
    /// Data of a known length that is made piece by piece, without memory for all of it.
    Stream {
        /// The exact number of bytes.
        length: u64,
        /// Read on the thread of the request, after the answer.
        reader: Box<dyn Read>,
    },
}

/// The file that fulfils a promise.
#[derive(Debug)]
pub enum FileContent {
    /// A file with a path.
    Path(ProvidedFile),
    /// An open file or folder.
    Open {
        /// The file, which needs no path any more.
        file: File,
        /// The proposed name; empty for none.
        name: String,
    },
}

/// A file that fulfils a promise.
#[derive(Debug)]
pub struct ProvidedFile {
    /// An absolute path.
    pub path: String,
    /// `true` if the file was created for this request, in `$TMPDIR`.
    pub remove_after: bool,
}

/// The item to preview.
#[derive(Debug)]
pub struct PreviewRequest<'a> {
    /// The identifier of the item.
    pub item: &'a str,
    /// The user's query.
    pub query: Option<&'a str>,
    /// The path of the item's `contentURL`, if that is a file.
    pub content_path: Option<&'a str>,
}

/// The displayed content of an item.
#[derive(Debug, Default)]
pub struct Preview {
    /// `public.html`, `public.plain-text`, `public.rtf`, `public.png`, `public.jpeg` or
    /// `com.adobe.pdf`.
    pub content_type: String,
    /// At most 32 MiB with the attachments.
    pub bytes: Vec<u8>,
    /// The title; `None` for the item's own title.
    pub title: Option<String>,
    /// The intended width and height in points; 0 for none.
    pub size: (f64, f64),
    /// The parts that the HTML references as `cid:IDENTIFIER`.
    pub attachments: Vec<Attachment>,
}

/// A part of a preview.
#[derive(Debug)]
pub struct Attachment {
    /// Letters, digits, `-`, `.` and `_`.
    pub identifier: String,
    /// A uniform type identifier.
    pub content_type: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// A notice of throttling.
#[derive(Debug)]
pub struct Throttle {
    /// `SEARCHLIGHT_THROTTLE_…`: 1 user active, 2 battery, 3 pressure, 4 requested.
    pub reason: i32,
    /// The acceptable rate of donations; 0 for none at the moment.
    pub items_per_second: f64,
}

/// Defines the entry point of the library: the type, its bundle identifier, and the traits of the
/// interfaces that it supports.
#[macro_export]
macro_rules! extension {
    ($type:ty, $identifier:literal, [$($interface:ident),* $(,)?]) => {
        #[doc(hidden)]
        #[no_mangle]
        pub extern "C" fn searchlight_extension_entry_point() -> *const $crate::raw::Entry {
            unsafe extern "C" fn get_interface(
                _: *mut $crate::raw::Instance,
                name: *const ::std::os::raw::c_char,
            ) -> *const ::std::os::raw::c_void {
                // SAFETY: the host passes a text.
                let name = unsafe { ::std::ffi::CStr::from_ptr(name) }.to_bytes();
                $(
                    if name == $crate::tables::$interface::NAME {
                        return $crate::tables::$interface::table::<$type>();
                    }
                )*
                ::std::ptr::null()
            }
            static ENTRY: $crate::raw::Entry = $crate::raw::Entry {
                size: ::std::mem::size_of::<$crate::raw::Entry>() as u32,
                abi_major: $crate::raw::ABI_MAJOR,
                abi_minor: $crate::raw::ABI_MINOR,
                reserved: 0,
                identifier: concat!($identifier, "\0").as_ptr() as *const ::std::os::raw::c_char,
                create: $crate::tables::create::<$type>,
                destroy: $crate::tables::destroy::<$type>,
                get_interface,
            };
            &ENTRY
        }
    };
}
