// SPDX-License-Identifier: Apache-2.0
//! The functions that the host calls. Each answers its request exactly once.

use crate::host::{c_text, Host, LogLevel, Request};
use crate::raw::{self, Instance, RawHost, RequestNumber};
use crate::{Error, Status};
use std::any::Any;
use std::ffi::{CStr, CString};
use std::io::{Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::os::raw::{c_char, c_void};
use std::os::unix::io::AsRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;

/// The extension and its host.
struct Loaded<E> {
    host: Host,
    extension: E,
}

fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the extension panicked: {}", text.unwrap_or("no message"))
}

/// Runs a function of the extension. A panic becomes an error.
fn guarded<Answer>(body: impl FnOnce() -> Result<Answer, Error>) -> Result<Answer, Error> {
    catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|panic| Err(Error::new(Status::Failed, panic_text(panic))))
}

fn message(error: &Error) -> CString {
    CString::new(error.message.replace('\0', " ")).unwrap_or_default()
}

/// Runs a function that answers a request, and sends its answer or its error.
unsafe fn answer<E: 'static, Answer>(
    instance: *mut Instance,
    number: RequestNumber,
    body: impl FnOnce(&E, &Request) -> Result<Answer, Error>,
    give: impl FnOnce(&raw::HostRequest, *const RawHost, Answer) -> Result<(), Error>,
) {
    let loaded = &*(instance as *const Loaded<E>);
    let request = Request { host: loaded.host, number };
    let requests = loaded.host.requests();
    let result = guarded(|| give(requests, loaded.host.raw(), body(&loaded.extension, &request)?));
    if let Err(error) = result {
        (requests.finish)(loaded.host.raw(), number, error.status as raw::Status, message(&error).as_ptr());
    }
}

unsafe fn acknowledge<E: 'static>(
    instance: *mut Instance,
    number: RequestNumber,
    body: impl FnOnce(&E, &Request) -> Result<(), Error>,
) {
    answer(instance, number, body, |requests, host, ()| {
        (requests.finish)(host, number, raw::OK, ptr::null());
        Ok(())
    })
}

unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Error> {
    CStr::from_ptr(text)
        .to_str()
        .map_err(|_| Error::new(Status::InvalidArgument, "a text of the host is not UTF-8"))
}

unsafe fn optional<'a>(pointer: *const c_char) -> Result<Option<&'a str>, Error> {
    if pointer.is_null() {
        return Ok(None);
    }
    text(pointer).map(Some)
}

/// Returns the slice of an array, which may be NULL if it is empty.
unsafe fn slice<'a, Element>(start: *const Element, count: usize) -> &'a [Element] {
    if count == 0 {
        return &[];
    }
    std::slice::from_raw_parts(start, count)
}

/// Creates the extension.
///
/// # Safety
///
/// The host calls it once, as the header says.
pub unsafe extern "C" fn create<E: crate::Extension>(
    host: *const RawHost,
    instance: *mut *mut Instance,
    error: *mut c_char,
    capacity: usize,
) -> raw::Status {
    let result = guarded(|| {
        let host = Host::from_raw(host);
        for name in [&b"searchlight.request/1\0"[..], b"searchlight.items/1\0", b"searchlight.batch/1\0"] {
            if host.interface::<u8>(name).is_none() {
                let name = String::from_utf8_lossy(&name[..name.len() - 1]).into_owned();
                return Err(Error::new(Status::Unsupported, format!("this host lacks {}", name)));
            }
        }
        Ok(Box::new(Loaded { host, extension: E::new(host)? }))
    });
    match result {
        Ok(loaded) => {
            *instance = Box::into_raw(loaded) as *mut Instance;
            raw::OK
        }
        Err(failure) => {
            let text = message(&failure);
            let bytes = text.as_bytes_with_nul();
            if capacity > 0 {
                let count = bytes.len().min(capacity);
                ptr::copy_nonoverlapping(bytes.as_ptr() as *const c_char, error, count);
                *error.add(count - 1) = 0;
            }
            failure.status as raw::Status
        }
    }
}

/// Destroys the extension.
///
/// # Safety
///
/// The host calls it at most once, when no request is in progress.
pub unsafe extern "C" fn destroy<E: crate::Extension>(instance: *mut Instance) {
    let _ = guarded(|| {
        drop(Box::from_raw(instance as *mut Loaded<E>));
        Ok(())
    });
}

macro_rules! interface {
    ($trait:ident, $name:literal, $table:ident { $($field:ident),* }) => {
        #[allow(non_snake_case, missing_docs)]
        pub mod $trait {
            use super::*;
            pub const NAME: &[u8] = $name;
            struct Table<E>(PhantomData<E>);
            impl<E: crate::$trait> Table<E> {
                const FUNCTIONS: raw::$table = raw::$table {
                    size: std::mem::size_of::<raw::$table>() as u32,
                    reserved: 0,
                    $($field: super::$field::<E>),*
                };
            }
            pub fn table<E: crate::$trait>() -> *const c_void {
                let table: &'static raw::$table = &Table::<E>::FUNCTIONS;
                table as *const raw::$table as *const c_void
            }
        }
    };
}

interface!(Reindex, b"searchlight.reindex/1", ReindexTable { reindex_all, reindex_items });
interface!(Encrypted, b"searchlight.encrypted-items/1", EncryptedItemsTable { reindex_encrypted_items });
interface!(Paging, b"searchlight.paging/1", PagingTable { reindex_page });
interface!(Changes, b"searchlight.changes/1", ChangesTable { update_files });
interface!(Promises, b"searchlight.promises/1", PromisesTable { provide_data, provide_file });
interface!(Previews, b"searchlight.preview/1", PreviewTable { preview });
interface!(Throttling, b"searchlight.throttle/1", ThrottleTable { did_throttle, did_finish_throttle });

unsafe extern "C" fn reindex_all<E: crate::Reindex>(instance: *mut Instance, number: RequestNumber) {
    acknowledge::<E>(instance, number, |extension, request| extension.reindex_all(request))
}

unsafe extern "C" fn reindex_items<E: crate::Reindex>(
    instance: *mut Instance,
    number: RequestNumber,
    identifiers: *const *const c_char,
    count: usize,
) {
    acknowledge::<E>(instance, number, |extension, request| {
        let texts = slice(identifiers, count).iter().map(|one| text(*one)).collect::<Result<Vec<_>, _>>()?;
        extension.reindex_items(request, &texts)
    })
}

unsafe extern "C" fn reindex_encrypted_items<E: crate::Encrypted>(
    instance: *mut Instance,
    number: RequestNumber,
    index: *const c_char,
    class: i32,
    identifiers: *const *const c_char,
    count: usize,
) {
    acknowledge::<E>(instance, number, |extension, request| {
        let class = match class {
            1 => crate::ProtectionClass::CompleteUnlessOpen,
            2 => crate::ProtectionClass::Complete,
            _ => return Err(Error::new(Status::InvalidArgument, "the protection class is unknown")),
        };
        let texts = slice(identifiers, count).iter().map(|one| text(*one)).collect::<Result<Vec<_>, _>>()?;
        extension.reindex_encrypted_items(request, text(index)?, class, &texts)
    })
}

unsafe extern "C" fn reindex_page<E: crate::Paging>(
    instance: *mut Instance,
    number: RequestNumber,
    page: *const raw::RawPage,
) {
    answer::<E, _>(
        instance,
        number,
        |extension, request| {
            let page = &*page;
            let cursor =
                (!page.cursor.is_null()).then(|| slice(page.cursor as *const u8, page.cursor_length));
            extension.reindex_page(
                request,
                &crate::Page {
                    cursor,
                    memory_limit: page.memory_limit,
                    items: page.items,
                    time: std::time::Duration::from_millis(page.milliseconds.into()),
                },
            )
        },
        |requests, host, next: Option<Vec<u8>>| {
            let (start, length) = next.as_ref().map_or((ptr::null(), 0), |next| (next.as_ptr(), next.len()));
            (requests.finish_page)(host, number, start as *const c_void, length);
            Ok(())
        },
    )
}

unsafe extern "C" fn update_files<E: crate::Changes>(
    instance: *mut Instance,
    number: RequestNumber,
    changes: *const *const raw::RawChange,
    count: usize,
) {
    acknowledge::<E>(instance, number, |extension, request| {
        let mut list = Vec::with_capacity(count);
        for change in slice(changes, count) {
            let change = &**change;
            let path = text(change.path)?;
            match (change.kind, optional(change.previous_path)?) {
                (1, _) => list.push(crate::Change::Changed(path)),
                (2, Some(from)) => list.push(crate::Change::Moved { from, to: path }),
                (3, _) => list.push(crate::Change::Removed(path)),
                // The header says to ignore other values.
                _ => {}
            }
        }
        extension.update_files(request, &list)
    })
}

const CONTENT: &[u8] = b"searchlight.content-draft/1\0";

fn read_all(reader: &mut dyn Read) -> Result<Vec<u8>, Error> {
    let mut data = Vec::new();
    reader.read_to_end(&mut data)?;
    Ok(data)
}

/// The size of the pieces of a stream, in bytes.
const PIECE: usize = 256 << 10;

/// Gives a stream, which answers the request. A later error or panic only ends the stream.
unsafe fn stream(
    host: &Host,
    content: &raw::HostContent,
    number: RequestNumber,
    length: u64,
    mut reader: Box<dyn Read>,
) -> Result<(), Error> {
    let stream = (content.finish_with_stream)(host.raw(), number, length);
    if stream.is_null() {
        return Err(Error::new(Status::Unavailable, "there are too many streams or descriptors; end a stream first"));
    }
    let result = guarded(|| {
        let mut buffer = vec![0u8; PIECE];
        let mut left = length;
        while left > 0 {
            let wanted = left.min(PIECE as u64) as usize;
            let count = reader.read(&mut buffer[..wanted])?;
            if count == 0 {
                return Err(Error::new(Status::Failed, format!("{} bytes are missing", left)));
            }
            match (content.write)(stream, buffer.as_ptr() as *const c_void, count) {
                raw::OK => left -= count as u64,
                status if status == Status::Cancelled as raw::Status => return Ok(()), // the receiver has gone
                status => return Err(Error::new(Status::from_raw(status), "writing to a stream failed")),
            }
        }
        Ok(())
    });
    (content.end)(stream);
    if let Err(error) = result {
        host.log(LogLevel::Error, &format!("A stream ended early: {}", error.message));
    }
    Ok(())
}

unsafe extern "C" fn provide_data<E: crate::Promises>(
    instance: *mut Instance,
    number: RequestNumber,
    item: *const c_char,
    content_type: *const c_char,
) {
    answer::<E, _>(
        instance,
        number,
        |extension, request| {
            let content = extension.provide_content(request, text(item)?, text(content_type)?)?;
            Ok((request.host, content))
        },
        |requests, raw_host, (host, content)| {
            let data = match (content, host.interface::<raw::HostContent>(CONTENT)) {
                (crate::Content::Data(data), _) => data,
                (crate::Content::File(file), Some(content)) => {
                    (content.finish_with_descriptor)(raw_host, number, file.as_raw_fd(), ptr::null());
                    return Ok(());
                }
                (crate::Content::Stream { length, reader }, Some(content)) => {
                    return stream(&host, content, number, length, reader);
                }
                (crate::Content::File(mut file), None) => {
                    file.seek(SeekFrom::Start(0))?;
                    read_all(&mut file)?
                }
                (crate::Content::Stream { mut reader, .. }, None) => read_all(&mut *reader)?,
            };
            (requests.finish_with_data)(raw_host, number, data.as_ptr() as *const c_void, data.len());
            Ok(())
        },
    )
}

unsafe extern "C" fn provide_file<E: crate::Promises>(
    instance: *mut Instance,
    number: RequestNumber,
    item: *const c_char,
    content_type: *const c_char,
    in_place: i32,
) {
    answer::<E, _>(
        instance,
        number,
        |extension, request| {
            let file =
                extension.provide_open_file(request, text(item)?, text(content_type)?, in_place != 0)?;
            Ok((request.host, file))
        },
        |requests, raw_host, (host, file)| {
            match file {
                crate::FileContent::Path(file) => {
                    let path = c_text(&file.path)?;
                    (requests.finish_with_file)(raw_host, number, path.as_ptr(), file.remove_after as i32);
                }
                crate::FileContent::Open { file, name } => {
                    let content = host
                        .interface::<raw::HostContent>(CONTENT)
                        .ok_or_else(|| Error::new(Status::Unsupported, "this host takes no open files"))?;
                    let name = if name.is_empty() { None } else { Some(c_text(&name)?) };
                    let name = name.as_ref().map_or(ptr::null(), |name| name.as_ptr());
                    (content.finish_with_descriptor)(raw_host, number, file.as_raw_fd(), name);
                }
            }
            Ok(())
        },
    )
}

unsafe extern "C" fn preview<E: crate::Previews>(
    instance: *mut Instance,
    number: RequestNumber,
    item: *const c_char,
    query: *const c_char,
    content_path: *const c_char,
) {
    answer::<E, _>(
        instance,
        number,
        |extension, request| {
            let wanted = crate::PreviewRequest {
                item: text(item)?,
                query: optional(query)?,
                content_path: optional(content_path)?,
            };
            extension.preview(request, &wanted)
        },
        |requests, host, preview: crate::Preview| {
            let (content_type, title) =
                (c_text(&preview.content_type)?, preview.title.as_deref().map(c_text).transpose()?);
            let mut names = Vec::new();
            for part in &preview.attachments {
                names.push((c_text(&part.identifier)?, c_text(&part.content_type)?));
            }
            let parts: Vec<raw::RawAttachment> = names
                .iter()
                .zip(&preview.attachments)
                .map(|((identifier, content_type), part)| raw::RawAttachment {
                    size: std::mem::size_of::<raw::RawAttachment>() as u32,
                    reserved: 0,
                    identifier: identifier.as_ptr(),
                    content_type: content_type.as_ptr(),
                    bytes: part.bytes.as_ptr() as *const c_void,
                    length: part.bytes.len(),
                })
                .collect();
            let pointers: Vec<*const raw::RawAttachment> =
                parts.iter().map(|part| part as *const _).collect();
            let reply = raw::RawPreview {
                size: std::mem::size_of::<raw::RawPreview>() as u32,
                attachment_count: parts.len() as u32,
                content_type: content_type.as_ptr(),
                title: title.as_ref().map_or(ptr::null(), |title| title.as_ptr()),
                bytes: preview.bytes.as_ptr() as *const c_void,
                length: preview.bytes.len(),
                width: preview.size.0,
                height: preview.size.1,
                attachments: if pointers.is_empty() { ptr::null() } else { pointers.as_ptr() },
            };
            (requests.finish_with_preview)(host, number, &reply);
            Ok(())
        },
    )
}

unsafe extern "C" fn did_throttle<E: crate::Throttling>(
    instance: *mut Instance,
    notice: *const raw::RawThrottle,
) {
    let loaded = &*(instance as *const Loaded<E>);
    let notice = crate::Throttle { reason: (*notice).reason, items_per_second: (*notice).items_per_second };
    let _ = guarded(|| {
        loaded.extension.did_throttle(&notice);
        Ok(())
    });
}

unsafe extern "C" fn did_finish_throttle<E: crate::Throttling>(instance: *mut Instance) {
    let loaded = &*(instance as *const Loaded<E>);
    let _ = guarded(|| {
        loaded.extension.did_finish_throttle();
        Ok(())
    });
}
