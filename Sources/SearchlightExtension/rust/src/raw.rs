// SPDX-License-Identifier: Apache-2.0
//! The declarations of `searchlight_extension.h` that this crate uses, with the same layout.
#![allow(missing_docs)]

use std::os::raw::{c_char, c_void};

pub type Status = i32;
pub type RequestNumber = u64;

pub const OK: Status = 0;
pub const ABI_MAJOR: u32 = 1;
pub const ABI_MINOR: u32 = 0;

/// An opaque object of the other side.
#[repr(C)]
pub struct Opaque {
    _private: [u8; 0],
}
pub type Instance = Opaque;
pub type RawItem = Opaque;
pub type RawBatch = Opaque;
pub type RawStream = Opaque;

#[repr(C)]
pub struct RawHost {
    pub size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub bundle_identifier: *const c_char,
    pub bundle_path: *const c_char,
    pub principal_class: *const c_char,
    pub get_interface: unsafe extern "C" fn(*const RawHost, *const c_char) -> *const c_void,
}

#[repr(C)]
pub struct RawAttachment {
    pub size: u32,
    pub reserved: u32,
    pub identifier: *const c_char,
    pub content_type: *const c_char,
    pub bytes: *const c_void,
    pub length: usize,
}

#[repr(C)]
pub struct RawPreview {
    pub size: u32,
    pub attachment_count: u32,
    pub content_type: *const c_char,
    pub title: *const c_char,
    pub bytes: *const c_void,
    pub length: usize,
    pub width: f64,
    pub height: f64,
    pub attachments: *const *const RawAttachment,
}

#[repr(C)]
pub struct HostRequest {
    pub size: u32,
    pub reserved: u32,
    pub finish: unsafe extern "C" fn(*const RawHost, RequestNumber, Status, *const c_char),
    pub finish_with_data: unsafe extern "C" fn(*const RawHost, RequestNumber, *const c_void, usize),
    pub finish_with_file: unsafe extern "C" fn(*const RawHost, RequestNumber, *const c_char, i32),
    pub finish_with_preview: unsafe extern "C" fn(*const RawHost, RequestNumber, *const RawPreview),
    pub finish_page: unsafe extern "C" fn(*const RawHost, RequestNumber, *const c_void, usize),
}

pub type CancelHandler = Option<unsafe extern "C" fn(*mut c_void, RequestNumber)>;
#[repr(C)]
pub struct HostCancel {
    pub size: u32,
    pub reserved: u32,
    pub is_cancelled: unsafe extern "C" fn(*const RawHost, RequestNumber) -> i32,
    pub set_handler: unsafe extern "C" fn(*const RawHost, RequestNumber, CancelHandler, *mut c_void),
}

#[repr(C)]
pub struct HostProgress {
    pub size: u32,
    pub reserved: u32,
    pub report: unsafe extern "C" fn(*const RawHost, RequestNumber, u64, u64),
}

#[repr(C)]
pub struct HostItems {
    pub size: u32,
    pub reserved: u32,
    pub create:
        unsafe extern "C" fn(*const RawHost, *const c_char, *const c_char, *const c_char) -> *mut RawItem,
    pub set_string: unsafe extern "C" fn(*mut RawItem, *const c_char, *const c_char) -> Status,
    pub set_strings: unsafe extern "C" fn(*mut RawItem, *const c_char, *const *const c_char, usize) -> Status,
    pub set_integer: unsafe extern "C" fn(*mut RawItem, *const c_char, i64) -> Status,
    pub set_number: unsafe extern "C" fn(*mut RawItem, *const c_char, f64) -> Status,
    pub set_boolean: unsafe extern "C" fn(*mut RawItem, *const c_char, i32) -> Status,
    pub set_date: unsafe extern "C" fn(*mut RawItem, *const c_char, f64) -> Status,
    pub set_data: unsafe extern "C" fn(*mut RawItem, *const c_char, *const c_void, usize) -> Status,
    pub set_expiration: unsafe extern "C" fn(*mut RawItem, f64) -> Status,
    pub release: unsafe extern "C" fn(*mut RawItem),
}

#[repr(C)]
pub struct HostCustomKeys {
    pub size: u32,
    pub reserved: u32,
    pub set_traits: unsafe extern "C" fn(*mut RawItem, *const c_char, u32) -> Status,
}

pub type Completion = Option<unsafe extern "C" fn(*mut c_void, Status, *const c_char)>;
pub type StateCompletion =
    Option<unsafe extern "C" fn(*mut c_void, Status, *const c_char, *const c_void, usize)>;
pub type ListingCompletion =
    Option<unsafe extern "C" fn(*mut c_void, Status, *const c_char, *const *const c_char, usize)>;

#[repr(C)]
pub struct HostBatch {
    pub size: u32,
    pub reserved: u32,
    pub create: unsafe extern "C" fn(*const RawHost) -> *mut RawBatch,
    pub index_items: unsafe extern "C" fn(*mut RawBatch, *const *mut RawItem, usize) -> Status,
    pub delete_items: unsafe extern "C" fn(*mut RawBatch, *const *const c_char, usize) -> Status,
    pub delete_domains: unsafe extern "C" fn(*mut RawBatch, *const *const c_char, usize) -> Status,
    pub delete_all: unsafe extern "C" fn(*mut RawBatch) -> Status,
    pub release: unsafe extern "C" fn(*mut RawBatch),
    pub commit: unsafe extern "C" fn(
        *const RawHost,
        *const c_char,
        *const RawBatch,
        *const c_void,
        usize,
        i32,
        *const c_void,
        usize,
        Completion,
        *mut c_void,
    ) -> Status,
    pub commit_changes: *const c_void,
    pub read_state:
        unsafe extern "C" fn(*const RawHost, *const c_char, StateCompletion, *mut c_void) -> Status,
}

#[repr(C)]
pub struct HostRename {
    pub size: u32,
    pub reserved: u32,
    pub rename_items: *const c_void,
    pub rename_in_batch:
        unsafe extern "C" fn(*mut RawBatch, *const *const c_char, *const *const c_char, usize) -> Status,
}

#[repr(C)]
pub struct HostListing {
    pub size: u32,
    pub reserved: u32,
    pub list_items: unsafe extern "C" fn(
        *const RawHost,
        *const c_char,
        *const c_char,
        u32,
        ListingCompletion,
        *mut c_void,
    ) -> Status,
}

#[repr(C)]
pub struct HostProtection {
    pub size: u32,
    pub reserved: u32,
    pub set_class: unsafe extern "C" fn(*const RawHost, *const c_char, i32) -> Status,
}

#[repr(C)]
pub struct HostLog {
    pub size: u32,
    pub reserved: u32,
    pub log: unsafe extern "C" fn(*const RawHost, i32, *const c_char),
}

#[repr(C)]
pub struct HostLeftOut {
    pub size: u32,
    pub reserved: u32,
    pub report: unsafe extern "C" fn(*const RawHost, *const c_char, *const c_char),
}

#[repr(C)]
pub struct HostContent {
    pub size: u32,
    pub reserved: u32,
    pub finish_with_descriptor: unsafe extern "C" fn(*const RawHost, RequestNumber, i32, *const c_char),
    pub finish_with_stream: unsafe extern "C" fn(*const RawHost, RequestNumber, u64) -> *mut RawStream,
    pub write: unsafe extern "C" fn(*mut RawStream, *const c_void, usize) -> Status,
    pub end: unsafe extern "C" fn(*mut RawStream),
}

#[repr(C)]
pub struct ReindexTable {
    pub size: u32,
    pub reserved: u32,
    pub reindex_all: unsafe extern "C" fn(*mut Instance, RequestNumber),
    pub reindex_items: unsafe extern "C" fn(*mut Instance, RequestNumber, *const *const c_char, usize),
}

#[repr(C)]
pub struct RawPage {
    pub size: u32,
    pub reserved: u32,
    pub cursor: *const c_void,
    pub cursor_length: usize,
    pub memory_limit: u64,
    pub items: u32,
    pub milliseconds: u32,
}

#[repr(C)]
pub struct PagingTable {
    pub size: u32,
    pub reserved: u32,
    pub reindex_page: unsafe extern "C" fn(*mut Instance, RequestNumber, *const RawPage),
}

#[repr(C)]
pub struct RawChange {
    pub size: u32,
    pub kind: i32,
    pub path: *const c_char,
    pub previous_path: *const c_char,
}

#[repr(C)]
pub struct EncryptedItemsTable {
    pub size: u32,
    pub reserved: u32,
    pub reindex_encrypted_items: unsafe extern "C" fn(
        *mut Instance,
        RequestNumber,
        *const c_char,
        i32,
        *const *const c_char,
        usize,
    ),
}

#[repr(C)]
pub struct ChangesTable {
    pub size: u32,
    pub reserved: u32,
    pub update_files: unsafe extern "C" fn(*mut Instance, RequestNumber, *const *const RawChange, usize),
}

#[repr(C)]
pub struct PromisesTable {
    pub size: u32,
    pub reserved: u32,
    pub provide_data: unsafe extern "C" fn(*mut Instance, RequestNumber, *const c_char, *const c_char),
    pub provide_file: unsafe extern "C" fn(*mut Instance, RequestNumber, *const c_char, *const c_char, i32),
}

#[repr(C)]
pub struct PreviewTable {
    pub size: u32,
    pub reserved: u32,
    pub preview:
        unsafe extern "C" fn(*mut Instance, RequestNumber, *const c_char, *const c_char, *const c_char),
}

#[repr(C)]
pub struct RawThrottle {
    pub size: u32,
    pub reason: i32,
    pub items_per_second: f64,
}

#[repr(C)]
pub struct ThrottleTable {
    pub size: u32,
    pub reserved: u32,
    pub did_throttle: unsafe extern "C" fn(*mut Instance, *const RawThrottle),
    pub did_finish_throttle: unsafe extern "C" fn(*mut Instance),
}

#[repr(C)]
pub struct Entry {
    pub size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub reserved: u32,
    pub identifier: *const c_char,
    pub create: unsafe extern "C" fn(*const RawHost, *mut *mut Instance, *mut c_char, usize) -> Status,
    pub destroy: unsafe extern "C" fn(*mut Instance),
    pub get_interface: unsafe extern "C" fn(*mut Instance, *const c_char) -> *const c_void,
}

// SAFETY: an entry is never changed, and what it points to is static.
unsafe impl Sync for Entry {}
