// SPDX-License-Identifier: Apache-2.0
//! The host side: items, batches and requests.

use crate::raw::*;
use crate::{Error, Status};
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::ptr;
use std::sync::mpsc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The host of this extension. Copies are cheap. All functions may be called from any thread.
#[derive(Clone, Copy)]
pub struct Host {
    raw: *const RawHost,
}

// SAFETY: the host and its functions may be used from any thread until the extension is destroyed,
// upon which the process ends.
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

/// The level of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum LogLevel {
    /// Information.
    Info = 1,
    /// A warning.
    Warning = 2,
    /// An error.
    Error = 3,
}

/// The protection class of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum ProtectionClass {
    /// Not encrypted.
    None = 0,
    /// Encrypted; accepts donations while the store is locked.
    CompleteUnlessOpen = 1,
    /// Encrypted; rejects donations while the store is locked.
    Complete = 2,
}

pub(crate) fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text)
        .map_err(|_| Error::new(Status::InvalidArgument, format!("{:?} contains a NUL character", text)))
}

fn c_texts(texts: &[&str]) -> Result<Vec<CString>, Error> {
    texts.iter().map(|text| c_text(text)).collect()
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

fn optional(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(ptr::null(), |text| text.as_ptr())
}

fn checked(status: crate::raw::Status, what: &str) -> Result<(), Error> {
    match status {
        OK => Ok(()),
        status => Err(Error::new(Status::from_raw(status), format!("{} failed", what))),
    }
}

/// Reads a message from the host, which is NULL on success.
unsafe fn outcome(status: crate::raw::Status, message: *const c_char) -> Result<(), Error> {
    if status == OK {
        return Ok(());
    }
    let text = if message.is_null() {
        "no reason was given".into()
    } else {
        CStr::from_ptr(message).to_string_lossy().into_owned()
    };
    Err(Error::new(Status::from_raw(status), text))
}

impl Host {
    /// Wraps the host passed to `create`.
    ///
    /// # Safety
    ///
    /// The pointer must remain valid until the extension is destroyed.
    #[doc(hidden)]
    pub unsafe fn from_raw(raw: *const RawHost) -> Host {
        Host { raw }
    }
    #[doc(hidden)]
    pub fn raw(&self) -> *const RawHost {
        self.raw
    }

    #[doc(hidden)]
    pub fn interface<Interface>(&self, name: &'static [u8]) -> Option<&'static Interface> {
        // SAFETY: the name ends with NUL, and an interface is valid as long as the host.
        unsafe {
            (((*self.raw).get_interface)(self.raw, name.as_ptr() as *const c_char) as *const Interface)
                .as_ref()
        }
    }

    fn required<Interface>(&self, name: &'static [u8], missing: &str) -> Result<&'static Interface, Error> {
        self.interface(name).ok_or_else(|| Error::new(Status::Unsupported, missing))
    }

    pub(crate) fn requests(&self) -> &'static HostRequest {
        self.interface(b"searchlight.request/1\0").expect(CHECKED)
    }
    fn items(&self) -> &'static HostItems {
        self.interface(b"searchlight.items/1\0").expect(CHECKED)
    }
    fn batches(&self) -> &'static HostBatch {
        self.interface(b"searchlight.batch/1\0").expect(CHECKED)
    }

    /// The identifier of the extension's bundle.
    pub fn bundle_identifier(&self) -> &str {
        // SAFETY: the text is valid as long as the host.
        unsafe { CStr::from_ptr((*self.raw).bundle_identifier) }.to_str().unwrap_or("")
    }
    /// The absolute path of the extension's bundle.
    pub fn bundle_path(&self) -> &str {
        // SAFETY: as above.
        unsafe { CStr::from_ptr((*self.raw).bundle_path) }.to_str().unwrap_or("")
    }

    /// Logs a message for the maintainer of the extension.
    pub fn log(&self, level: LogLevel, message: &str) {
        if let (Some(log), Ok(text)) = (self.interface::<HostLog>(b"searchlight.log/1\0"), c_text(message)) {
            // SAFETY: the text lives until the call returns.
            unsafe { (log.log)(self.raw, level as i32, text.as_ptr()) }
        }
    }
    /// Reports content that is not indexed. Use the same reason for all content of a kind.
    pub fn report_left_out(&self, name: &str, reason: &str) {
        if let (Some(report), Ok(name), Ok(reason)) =
            (self.interface::<HostLeftOut>(b"searchlight.left-out/1\0"), c_text(name), c_text(reason))
        {
            // SAFETY: the texts live until the call returns.
            unsafe { (report.report)(self.raw, name.as_ptr(), reason.as_ptr()) }
        }
    }

    /// Sets the class of a named index for all later donations of this worker. The first one makes
    /// the index encrypted. It fails with [`Status::Unavailable`] while the store is locked, and with
    /// [`Status::Failed`] if the index has items without encryption.
    ///
    /// If the host cannot encrypt, the error is [`Status::Unsupported`]. Do not donate items then
    /// that must be encrypted.
    pub fn set_class(&self, index: &str, class: ProtectionClass) -> Result<(), Error> {
        let protection = self
            .required::<HostProtection>(b"searchlight.protection/1\0", "this host cannot encrypt an index")?;
        let name = c_text(index)?;
        // SAFETY: the name lives until the call returns.
        let status = unsafe { (protection.set_class)(self.raw, name.as_ptr(), class as i32) };
        checked(status, "setting the class of an index")
    }

    /// Lists identifiers of the extension's own items in the default index, as
    /// [`Host::list_items_of`].
    pub fn list_items(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>, Error> {
        self.list_items_of(None, after, limit)
    }

    /// Lists identifiers of the extension's own items in an index (`None`: the default index),
    /// sorted by their bytes, after everything that was sent before is durable. A page shorter than
    /// `limit` (at most 1,000) is the last one.
    pub fn list_items_of(
        &self,
        index: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, Error> {
        type Answer = Result<Vec<String>, Error>;
        unsafe extern "C" fn take(
            context: *mut c_void,
            status: crate::raw::Status,
            message: *const c_char,
            identifiers: *const *const c_char,
            count: usize,
        ) {
            let sender = Box::from_raw(context as *mut mpsc::Sender<Answer>);
            let list = || {
                (0..count)
                    .map(|place| CStr::from_ptr(*identifiers.add(place)).to_string_lossy().into_owned())
                    .collect()
            };
            let _ = sender.send(outcome(status, message).map(|_| list()));
        }
        let listing =
            self.required::<HostListing>(b"searchlight.listing/1\0", "this host cannot list items")?;
        let (index, after) = (index.map(c_text).transpose()?, after.map(c_text).transpose()?);
        let (sender, receiver) = mpsc::channel::<Answer>();
        let context = Box::into_raw(Box::new(sender));
        // SAFETY: `take` frees the context, which is called if the status is OK.
        unsafe {
            let status = (listing.list_items)(
                self.raw,
                optional(&index),
                optional(&after),
                limit,
                Some(take),
                context as *mut c_void,
            );
            if let Err(error) = checked(status, "requesting a list of items") {
                drop(Box::from_raw(context));
                return Err(error);
            }
        }
        receiver.recv().unwrap_or_else(|_| Err(Error::new(Status::Unavailable, "the host is gone")))
    }

    /// Reads the client state of the last durable batch of an index; `None` if there is none.
    pub fn read_client_state(&self, index: Option<&str>) -> Result<Option<Vec<u8>>, Error> {
        type Answer = Result<Option<Vec<u8>>, Error>;
        unsafe extern "C" fn take(
            context: *mut c_void,
            status: crate::raw::Status,
            message: *const c_char,
            state: *const c_void,
            length: usize,
        ) {
            let sender = Box::from_raw(context as *mut mpsc::Sender<Answer>);
            let bytes = || {
                (!state.is_null()).then(|| std::slice::from_raw_parts(state as *const u8, length).to_vec())
            };
            let _ = sender.send(outcome(status, message).map(|_| bytes()));
        }
        let index = index.map(c_text).transpose()?;
        let (sender, receiver) = mpsc::channel::<Answer>();
        let context = Box::into_raw(Box::new(sender));
        // SAFETY: as in list_items.
        unsafe {
            let status =
                (self.batches().read_state)(self.raw, optional(&index), Some(take), context as *mut c_void);
            if let Err(error) = checked(status, "requesting the client state") {
                drop(Box::from_raw(context));
                return Err(error);
            }
        }
        receiver.recv().unwrap_or_else(|_| Err(Error::new(Status::Unavailable, "the host is gone")))
    }
}

/// `create` rejects a host that lacks an interface that every extension needs.
const CHECKED: &str = "the host was checked when the extension was created";

// ---- Items -----------------------------------------------------------------------------------

/// A value of an attribute.
pub trait Value {
    #[doc(hidden)]
    fn set(&self, item: &mut Item, name: &CStr) -> Result<crate::raw::Status, Error>;
}

macro_rules! value {
    ($type:ty, $value:ident, |$items:ident, $item:ident, $name:ident| $body:expr) => {
        impl Value for $type {
            fn set(&self, item: &mut Item, name: &CStr) -> Result<crate::raw::Status, Error> {
                let ($value, $items, $item, $name) = (self, item.items, item.raw, name.as_ptr());
                // SAFETY: the item is owned, and the arguments live until the call returns.
                Ok(unsafe { $body })
            }
        }
    };
}

value!(&str, text, |items, item, name| (items.set_string)(item, name, c_text(text)?.as_ptr()));
value!(String, text, |items, item, name| (items.set_string)(item, name, c_text(text)?.as_ptr()));
value!(&String, text, |items, item, name| (items.set_string)(item, name, c_text(text)?.as_ptr()));
value!(&[&str], texts, |items, item, name| {
    let texts = c_texts(texts)?;
    (items.set_strings)(item, name, pointers(&texts).as_ptr(), texts.len())
});
value!(i64, number, |items, item, name| (items.set_integer)(item, name, *number));
value!(f64, number, |items, item, name| (items.set_number)(item, name, *number));
value!(bool, truth, |items, item, name| (items.set_boolean)(item, name, *truth as i32));
value!(SystemTime, date, |items, item, name| (items.set_date)(item, name, seconds(*date)));
value!(&[u8], bytes, |items, item, name| (items.set_data)(
    item,
    name,
    bytes.as_ptr() as *const c_void,
    bytes.len()
));

fn seconds(date: SystemTime) -> f64 {
    match date.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs_f64(),
        Err(error) => -error.duration().as_secs_f64(),
    }
}

/// An item to donate. Attributes have the names and units of `CSSearchableItemAttributeSet`.
pub struct Item {
    host: Host,
    items: &'static HostItems,
    raw: *mut RawItem,
}

// SAFETY: an item is used by one thread at a time, not necessarily the same one.
unsafe impl Send for Item {}

impl Item {
    /// Creates an item. `domain` is dotted (`account.mailbox`); `content_type` is a uniform type
    /// identifier.
    pub fn new(
        host: &Host,
        identifier: &str,
        domain: Option<&str>,
        content_type: Option<&str>,
    ) -> Result<Item, Error> {
        let (identifier, domain, content_type) =
            (c_text(identifier)?, domain.map(c_text).transpose()?, content_type.map(c_text).transpose()?);
        let items = host.items();
        // SAFETY: the texts live until the call returns.
        let raw = unsafe {
            (items.create)(host.raw(), identifier.as_ptr(), optional(&domain), optional(&content_type))
        };
        Ok(Item { host: *host, items, raw })
    }

    /// Sets an attribute, replacing any previous value.
    pub fn set(&mut self, name: &str, value: impl Value) -> Result<(), Error> {
        checked(value.set(self, &c_text(name)?)?, name)
    }
    /// Sets the search traits of a custom attribute, a sum of: 1 searchable, 2 searchable by
    /// default, 4 unique, 8 multi-valued.
    pub fn set_traits(&mut self, name: &str, traits: u32) -> Result<(), Error> {
        let keys = self.host.required::<HostCustomKeys>(
            b"searchlight.custom-keys/1\0",
            "this host has no traits of attributes",
        )?;
        let text = c_text(name)?;
        // SAFETY: the item is owned, and the text lives until the call returns.
        checked(unsafe { (keys.set_traits)(self.raw, text.as_ptr(), traits) }, name)
    }
    /// Sets the expiration. By default, an item expires one month after its donation.
    pub fn expire(&mut self, date: SystemTime) -> Result<(), Error> {
        self.expire_at(seconds(date))
    }
    /// Keeps the item until it is removed.
    pub fn never_expire(&mut self) -> Result<(), Error> {
        self.expire_at(f64::INFINITY)
    }

    fn expire_at(&mut self, seconds: f64) -> Result<(), Error> {
        // SAFETY: the item is owned.
        checked(unsafe { (self.items.set_expiration)(self.raw, seconds) }, "setting the expiration")
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        // SAFETY: the item is released once.
        unsafe { (self.items.release)(self.raw) }
    }
}

// ---- Batches ---------------------------------------------------------------------------------

/// The stored client state that a batch expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expectation<'a> {
    /// Any client state.
    #[default]
    Any,
    /// No client state.
    None,
    /// This client state.
    State(&'a [u8]),
}

/// The index of a batch, the client state that it stores, and the client state that it expects.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientState<'a> {
    /// The name of the index; `None` for the default index.
    pub index: Option<&'a str>,
    /// The client state to store, at most 250 bytes.
    pub state: Option<&'a [u8]>,
    /// The expected client state. If the stored one differs, nothing is changed, and the error is
    /// [`Status::Refused`].
    pub expectation: Expectation<'a>,
}

/// Changes that become durable together, or not at all. A batch has at most 32 MiB; a change that
/// would exceed this limit is an error and leaves the batch unchanged.
pub struct Batch {
    host: Host,
    batches: &'static HostBatch,
    raw: *mut RawBatch,
}

// SAFETY: a batch is used by one thread at a time, not necessarily the same one.
unsafe impl Send for Batch {}

impl Batch {
    /// Creates an empty batch.
    pub fn new(host: &Host) -> Batch {
        let batches = host.batches();
        // SAFETY: the host is valid.
        Batch { host: *host, batches, raw: unsafe { (batches.create)(host.raw()) } }
    }

    /// Adds or replaces an item.
    pub fn add(&mut self, item: &Item) -> Result<(), Error> {
        // SAFETY: batch and item are owned, and the host copies the item.
        checked(unsafe { (self.batches.index_items)(self.raw, &item.raw, 1) }, "adding an item")
    }
    /// Removes items.
    pub fn remove(&mut self, identifiers: &[&str]) -> Result<(), Error> {
        let texts = c_texts(identifiers)?;
        // SAFETY: the texts live until the call returns.
        checked(
            unsafe { (self.batches.delete_items)(self.raw, pointers(&texts).as_ptr(), texts.len()) },
            "removing items",
        )
    }
    /// Removes each domain with its subdomains.
    pub fn remove_domains(&mut self, domains: &[&str]) -> Result<(), Error> {
        let texts = c_texts(domains)?;
        // SAFETY: as above.
        checked(
            unsafe { (self.batches.delete_domains)(self.raw, pointers(&texts).as_ptr(), texts.len()) },
            "removing domains",
        )
    }
    /// Removes everything. During a reindex, only items that are not donated again are removed, at
    /// its end.
    pub fn remove_all(&mut self) -> Result<(), Error> {
        // SAFETY: the batch is owned.
        checked(unsafe { (self.batches.delete_all)(self.raw) }, "removing everything")
    }
    /// Gives items new identifiers. The pairs are (old, new).
    pub fn rename(&mut self, pairs: &[(&str, &str)]) -> Result<(), Error> {
        let renaming =
            self.host.required::<HostRename>(b"searchlight.rename/1\0", "this host cannot rename items")?;
        let (old, new): (Vec<&str>, Vec<&str>) = pairs.iter().copied().unzip();
        let (old, new) = (c_texts(&old)?, c_texts(&new)?);
        // SAFETY: the texts live until the call returns, and both lists have the same length.
        checked(
            unsafe {
                (renaming.rename_in_batch)(
                    self.raw,
                    pointers(&old).as_ptr(),
                    pointers(&new).as_ptr(),
                    old.len(),
                )
            },
            "renaming items",
        )
    }

    /// Makes the changes durable, and waits until they are.
    pub fn commit(&self) -> Result<(), Error> {
        self.commit_with(ClientState::default())
    }

    /// Makes the changes durable together with a client state, and waits until they are.
    pub fn commit_with(&self, client: ClientState<'_>) -> Result<(), Error> {
        type Answer = Result<(), Error>;
        unsafe extern "C" fn take(context: *mut c_void, status: crate::raw::Status, message: *const c_char) {
            let sender = Box::from_raw(context as *mut mpsc::Sender<Answer>);
            let _ = sender.send(outcome(status, message));
        }
        let index = client.index.map(c_text).transpose()?;
        let state = client.state.unwrap_or(&[]);
        let (expectation, expected): (i32, &[u8]) = match client.expectation {
            Expectation::Any => (0, &[]),
            Expectation::None => (1, &[]),
            Expectation::State(state) => (2, state),
        };
        let (sender, receiver) = mpsc::channel::<Answer>();
        let context = Box::into_raw(Box::new(sender));
        // SAFETY: all arguments live until the call returns. `take` frees the context; it is called
        // if the status is OK.
        unsafe {
            let status = (self.batches.commit)(
                self.host.raw(),
                optional(&index),
                self.raw,
                if client.state.is_some() { state.as_ptr() as *const c_void } else { ptr::null() },
                state.len(),
                expectation,
                expected.as_ptr() as *const c_void,
                expected.len(),
                Some(take),
                context as *mut c_void,
            );
            if let Err(error) = checked(status, "sending a batch") {
                drop(Box::from_raw(context));
                return Err(error);
            }
        }
        receiver.recv().unwrap_or_else(|_| Err(Error::new(Status::Unavailable, "the host is gone")))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // SAFETY: the batch is released once.
        unsafe { (self.batches.release)(self.raw) }
    }
}

// ---- Requests --------------------------------------------------------------------------------

/// The request that a function answers.
pub struct Request {
    pub(crate) host: Host,
    pub(crate) number: RequestNumber,
}

impl Request {
    /// `true` once the host is no longer waiting for the answer. Long-running work should check
    /// this repeatedly, and return [`Status::Cancelled`].
    pub fn is_cancelled(&self) -> bool {
        let cancel = self.host.interface::<HostCancel>(b"searchlight.cancel/1\0");
        // SAFETY: the host is valid.
        cancel.map_or(false, |cancel| unsafe { (cancel.is_cancelled)(self.host.raw(), self.number) != 0 })
    }
    /// Returns an error if the request was cancelled, for use with `?`.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() {
            return Err(Error::new(Status::Cancelled, "the request was cancelled"));
        }
        Ok(())
    }
    /// Reports `completed` of `total` units; `total` may be 0 if it is not known. A report counts
    /// as a sign of life.
    pub fn report_progress(&self, completed: u64, total: u64) {
        if let Some(progress) = self.host.interface::<HostProgress>(b"searchlight.progress/1\0") {
            // SAFETY: the host is valid.
            unsafe { (progress.report)(self.host.raw(), self.number, completed, total) }
        }
    }
}
