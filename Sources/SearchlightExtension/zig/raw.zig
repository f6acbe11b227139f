// SPDX-License-Identifier: Apache-2.0
//! The declarations of `searchlight_extension.h` that the kit uses, with the same layout.

pub const Text = [*:0]const u8;
pub const Bytes = ?[*]const u8;

/// Objects that only the other side knows.
pub const Instance = opaque {};
pub const RawItem = opaque {};
pub const RawBatch = opaque {};
pub const RawStream = opaque {};

pub const ok: i32 = 0;
pub const abi_major: u32 = 1;
pub const abi_minor: u32 = 0;

pub const RawHost = extern struct {
    size: u32,
    abi_major: u32,
    abi_minor: u32,
    reserved: u32,
    context: ?*anyopaque,
    bundle_identifier: Text,
    bundle_path: Text,
    principal_class: ?Text,
    get_interface: *const fn (*const RawHost, Text) callconv(.c) ?*const anyopaque,
};

pub const RawAttachment = extern struct {
    size: u32 = @sizeOf(RawAttachment),
    reserved: u32 = 0,
    identifier: Text,
    content_type: Text,
    bytes: Bytes,
    length: usize,
};

pub const RawPreview = extern struct {
    size: u32 = @sizeOf(RawPreview),
    attachment_count: u32,
    content_type: Text,
    title: ?Text,
    bytes: Bytes,
    length: usize,
    width: f64,
    height: f64,
    attachments: ?[*]const *const RawAttachment,
};

pub const HostRequest = extern struct {
    size: u32,
    reserved: u32,
    finish: *const fn (*const RawHost, u64, i32, ?Text) callconv(.c) void,
    finish_with_data: *const fn (*const RawHost, u64, Bytes, usize) callconv(.c) void,
    finish_with_file: *const fn (*const RawHost, u64, Text, i32) callconv(.c) void,
    finish_with_preview: *const fn (*const RawHost, u64, *const RawPreview) callconv(.c) void,
    finish_page: *const fn (*const RawHost, u64, Bytes, usize) callconv(.c) void,
};

pub const HostCancel = extern struct {
    size: u32,
    reserved: u32,
    is_cancelled: *const fn (*const RawHost, u64) callconv(.c) i32,
    set_handler: *const anyopaque,
};

pub const HostProgress = extern struct {
    size: u32,
    reserved: u32,
    report: *const fn (*const RawHost, u64, u64, u64) callconv(.c) void,
};

pub const HostItems = extern struct {
    size: u32,
    reserved: u32,
    create: *const fn (*const RawHost, Text, ?Text, ?Text) callconv(.c) ?*RawItem,
    set_string: *const fn (*RawItem, Text, Text) callconv(.c) i32,
    set_strings: *const fn (*RawItem, Text, ?[*]const Text, usize) callconv(.c) i32,
    set_integer: *const fn (*RawItem, Text, i64) callconv(.c) i32,
    set_number: *const fn (*RawItem, Text, f64) callconv(.c) i32,
    set_boolean: *const fn (*RawItem, Text, i32) callconv(.c) i32,
    set_date: *const fn (*RawItem, Text, f64) callconv(.c) i32,
    set_data: *const fn (*RawItem, Text, Bytes, usize) callconv(.c) i32,
    set_expiration: *const fn (*RawItem, f64) callconv(.c) i32,
    release: *const fn (?*RawItem) callconv(.c) void,
};

pub const HostCustomKeys = extern struct {
    size: u32,
    reserved: u32,
    set_traits: *const fn (*RawItem, Text, u32) callconv(.c) i32,
};

pub const Completion = *const fn (?*anyopaque, i32, ?Text) callconv(.c) void;
pub const StateCompletion = *const fn (?*anyopaque, i32, ?Text, Bytes, usize) callconv(.c) void;
pub const ListingCompletion = *const fn (?*anyopaque, i32, ?Text, ?[*]const Text, usize) callconv(.c) void;

pub const HostBatch = extern struct {
    size: u32,
    reserved: u32,
    create: *const fn (*const RawHost) callconv(.c) ?*RawBatch,
    index_items: *const fn (*RawBatch, ?[*]const *RawItem, usize) callconv(.c) i32,
    delete_items: *const fn (*RawBatch, ?[*]const Text, usize) callconv(.c) i32,
    delete_domains: *const fn (*RawBatch, ?[*]const Text, usize) callconv(.c) i32,
    delete_all: *const fn (*RawBatch) callconv(.c) i32,
    release: *const fn (?*RawBatch) callconv(.c) void,
    commit: *const fn (
        *const RawHost,
        ?Text,
        *const RawBatch,
        Bytes,
        usize,
        i32,
        Bytes,
        usize,
        ?Completion,
        ?*anyopaque,
    ) callconv(.c) i32,
    commit_changes: *const anyopaque,
    read_state: *const fn (*const RawHost, ?Text, StateCompletion, ?*anyopaque) callconv(.c) i32,
};

pub const HostRename = extern struct {
    size: u32,
    reserved: u32,
    rename_items: *const anyopaque,
    rename_in_batch: *const fn (*RawBatch, ?[*]const Text, ?[*]const Text, usize) callconv(.c) i32,
};

pub const HostListing = extern struct {
    size: u32,
    reserved: u32,
    list_items: *const fn (*const RawHost, ?Text, ?Text, u32, ListingCompletion, ?*anyopaque) callconv(.c) i32,
};

pub const HostProtection = extern struct {
    size: u32,
    reserved: u32,
    set_class: *const fn (*const RawHost, Text, i32) callconv(.c) i32,
};

pub const HostLog = extern struct {
    size: u32,
    reserved: u32,
    log: *const fn (*const RawHost, i32, Text) callconv(.c) void,
};

pub const HostLeftOut = extern struct {
    size: u32,
    reserved: u32,
    report: *const fn (*const RawHost, Text, Text) callconv(.c) void,
};

pub const HostContent = extern struct {
    size: u32,
    reserved: u32,
    finish_with_descriptor: *const fn (*const RawHost, u64, i32, ?Text) callconv(.c) void,
    finish_with_stream: *const fn (*const RawHost, u64, u64) callconv(.c) ?*RawStream,
    write: *const fn (*RawStream, Bytes, usize) callconv(.c) i32,
    end: *const fn (?*RawStream) callconv(.c) void,
};

pub const ReindexTable = extern struct {
    size: u32 = @sizeOf(ReindexTable),
    reserved: u32 = 0,
    reindex_all: *const fn (*Instance, u64) callconv(.c) void,
    reindex_items: *const fn (*Instance, u64, ?[*]const Text, usize) callconv(.c) void,
};

pub const RawPage = extern struct {
    size: u32,
    reserved: u32,
    cursor: Bytes,
    cursor_length: usize,
    memory_limit: u64,
    items: u32,
    milliseconds: u32,
};

pub const PagingTable = extern struct {
    size: u32 = @sizeOf(PagingTable),
    reserved: u32 = 0,
    reindex_page: *const fn (*Instance, u64, *const RawPage) callconv(.c) void,
};

pub const RawChange = extern struct {
    size: u32,
    kind: i32,
    path: Text,
    previous_path: ?Text,
};

pub const EncryptedItemsTable = extern struct {
    size: u32 = @sizeOf(EncryptedItemsTable),
    reserved: u32 = 0,
    reindex_encrypted_items: *const fn (*Instance, u64, Text, i32, ?[*]const Text, usize) callconv(.c) void,
};

pub const ChangesTable = extern struct {
    size: u32 = @sizeOf(ChangesTable),
    reserved: u32 = 0,
    update_files: *const fn (*Instance, u64, ?[*]const *const RawChange, usize) callconv(.c) void,
};

pub const PromisesTable = extern struct {
    size: u32 = @sizeOf(PromisesTable),
    reserved: u32 = 0,
    provide_data: ?*const fn (*Instance, u64, Text, Text) callconv(.c) void,
    provide_file: ?*const fn (*Instance, u64, Text, Text, i32) callconv(.c) void,
};

pub const PreviewTable = extern struct {
    size: u32 = @sizeOf(PreviewTable),
    reserved: u32 = 0,
    preview: *const fn (*Instance, u64, Text, ?Text, ?Text) callconv(.c) void,
};

pub const RawThrottle = extern struct {
    size: u32,
    reason: i32,
    items_per_second: f64,
};

pub const ThrottleTable = extern struct {
    size: u32 = @sizeOf(ThrottleTable),
    reserved: u32 = 0,
    did_throttle: *const fn (*Instance, *const RawThrottle) callconv(.c) void,
    did_finish_throttle: ?*const fn (*Instance) callconv(.c) void,
};

pub const Entry = extern struct {
    size: u32 = @sizeOf(Entry),
    abi_major: u32,
    abi_minor: u32,
    reserved: u32 = 0,
    identifier: Text,
    create: *const fn (*const RawHost, *?*Instance, [*]u8, usize) callconv(.c) i32,
    destroy: ?*const fn (*Instance) callconv(.c) void,
    get_interface: *const fn (*Instance, Text) callconv(.c) ?*const anyopaque,
};
