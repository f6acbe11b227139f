// SPDX-License-Identifier: Apache-2.0
//! Extensions of Searchlight in Zig 0.17, over `searchlight_extension.h`.
//!
//! An extension is a struct with `create`, and functions for the interfaces that it serves:
//!
//!     const searchlight = @import("searchlight");
//!
//!     const Recipes = struct {
//!         host: searchlight.Host,
//!
//!         pub fn create(host: searchlight.Host) !Recipes {
//!             return .{ .host = host };
//!         }
//!
//!         pub fn reindexAll(self: *Recipes, _: searchlight.Request) !void {
//!             const batch = try self.host.batch();
//!             defer batch.deinit();
//!             try batch.removeAll();
//!             const item = try self.host.item("pudding", .{ .domain = "desserts", .content_type = "public.plain-text" });
//!             defer item.deinit();
//!             try item.set("title", "Rice pudding");
//!             try batch.add(item);
//!             try batch.commit();
//!         }
//!
//!         pub fn reindexItems(self: *Recipes, request: searchlight.Request, _: []const []const u8) !void {
//!             try self.reindexAll(request);
//!         }
//!     };
//!
//!     comptime {
//!         searchlight.register(Recipes, "com.example.recipes");
//!     }
//!
//! The functions of an extension, of which each pair and each single one is optional:
//!
//!     reindexAll(*Self, Request) !void                        donates all items, once durable; call removeAll first
//!     reindexItems(*Self, Request, []const []const u8) !void  donates each of these items again, or removes it
//!     reindexEncryptedItems(*Self, Request, []const u8, ProtectionClass, []const []const u8) !void
//!                                                             the same for an encrypted index and its class
//!     reindexPage(*Self, Request, Page) !?[]const u8          donates a page, returns the cursor of the next
//!     updateFiles(*Self, Request, []const Change) !void       updates the items of changed files
//!     provideData(*Self, Request, []const u8, []const u8) ![]const u8            the item, the type
//!     provideContent(*Self, Request, []const u8, []const u8) !Content            the same for large data
//!     provideFile(*Self, Request, []const u8, []const u8, bool) !ProvidedFile    …, true for the original
//!     preview(*Self, Request, PreviewRequest) !Preview        renders an item
//!     didThrottle(*Self, Throttle) void, didFinishThrottle(*Self) void
//!
//! Each runs on a thread of the host, and may wait. Several requests may run at once. An error is
//! the answer of the request: `return searchlight.fail(error.NotFound, "there is no {s}", .{name})`
//! adds a message. A panic ends the worker. What a function returns is copied before the memory of
//! its `request.arena` is freed.

const std = @import("std");
const raw = @import("raw.zig");

const gpa = std.heap.c_allocator;

/// The kinds of errors that the host distinguishes. Another error is `Failed`, with its name.
pub const Error = error{
    /// Any other failure.
    Failed,
    /// The extension does not serve this type or request.
    Unsupported,
    /// There is no such item.
    NotFound,
    /// The request was cancelled.
    Cancelled,
    /// A malformed text or a wrong size.
    InvalidArgument,
    /// The host, the index or the source is not reachable now.
    Unavailable,
    /// Over a limit that the message names.
    TooLarge,
    /// Understood, but not allowed.
    Refused,
};

const errors = [_]Error{
    error.Failed,
    error.Unsupported,
    error.NotFound,
    error.Cancelled,
    error.InvalidArgument,
    error.Unavailable,
    error.TooLarge,
    error.Refused,
};

/// Returns the error of a status of the header, which is not 0.
fn errorOf(number: i32) Error {
    return if (number >= 1 and number <= errors.len) errors[@intCast(number - 1)] else error.Failed;
}

/// Returns the status of an error.
pub fn status(failure: anyerror) i32 {
    for (errors, 1..) |known, number| {
        if (failure == known) return @intCast(number);
    }
    return 1;
}

/// The message of the last error of this thread, for the answer of its request.
threadlocal var message: [1024:0]u8 = undefined;
threadlocal var message_length: usize = 0;
threadlocal var message_error: anyerror = error.Failed;

/// Returns the error, and keeps a message of at most 1,024 bytes for the answer of the request. The
/// message is used if the request is answered with this error, even if the error comes from a later
/// call that kept no message.
pub fn fail(failure: Error, comptime format: []const u8, arguments: anytype) Error {
    var writer: std.Io.Writer = .fixed(&message);
    writer.print(format, arguments) catch {}; // the rest is cut
    var length = writer.buffered().len;
    // Not in the middle of a character.
    while (length > 0 and !std.unicode.utf8ValidateSlice(message[0..length])) length -= 1;
    std.mem.replaceScalar(u8, message[0..length], 0, ' ');
    message_length = length;
    message_error = failure;
    return failure;
}

/// Returns the message of an error: the kept one, or the name of the error.
fn messageOf(failure: anyerror) [:0]const u8 {
    if (message_error != failure or message_length == 0) return @errorName(failure);
    message[message_length] = 0;
    return message[0..message_length :0];
}

fn check(number: i32, what: []const u8) Error!void {
    if (number != raw.ok) return fail(errorOf(number), "{s} failed", .{what});
}

/// Copies a text and ends it with NUL.
fn terminated(allocator: std.mem.Allocator, text: []const u8) ![:0]const u8 {
    if (std.mem.indexOfScalar(u8, text, 0) != null) {
        return fail(error.InvalidArgument, "a text contains a NUL character", .{});
    }
    const copy = try allocator.allocSentinel(u8, text.len, 0);
    @memcpy(copy, text);
    return copy;
}

fn terminatedOrNull(allocator: std.mem.Allocator, text: ?[]const u8) !?raw.Text {
    return if (text) |one| (try terminated(allocator, one)).ptr else null;
}

fn pointers(allocator: std.mem.Allocator, texts: []const []const u8) ![]raw.Text {
    const list = try allocator.alloc(raw.Text, texts.len);
    for (texts, list) |text, *pointer| pointer.* = (try terminated(allocator, text)).ptr;
    return list;
}

/// Waits for the answer of the host.
fn Answer(comptime Value: type) type {
    return struct {
        const Self = @This();
        semaphore: std.c.sem_t = undefined,
        result: (Error || std.mem.Allocator.Error)!Value = undefined,
        message: [message.len]u8 = undefined,
        message_length: usize = 0,

        fn init(self: *Self) void {
            self.* = .{};
            _ = std.c.sem_init(&self.semaphore, 0, 0);
        }

        /// Called on a thread of the host. Afterwards the answer may be gone.
        fn give(self: *Self, result: std.mem.Allocator.Error!Value, number: i32, text: ?raw.Text) void {
            self.result = if (number == raw.ok) result else errorOf(number);
            const given = std.mem.span(text orelse "no reason was given");
            self.message_length = @min(given.len, self.message.len);
            @memcpy(self.message[0..self.message_length], given[0..self.message_length]);
            _ = std.c.sem_post(&self.semaphore);
        }

        fn wait(self: *Self) !Value {
            while (std.c.sem_wait(&self.semaphore) != 0) {} // interrupted by a signal
            return self.result catch |failure| switch (failure) {
                error.OutOfMemory => failure,
                else => |known| fail(known, "{s}", .{self.message[0..self.message_length]}),
            };
        }
    };
}

/// The host of this extension. All functions may be called from any thread.
pub const Host = struct {
    raw: *const raw.RawHost,

    fn find(self: Host, comptime Interface: type, name: raw.Text) ?*const Interface {
        return @ptrCast(@alignCast(self.raw.get_interface(self.raw, name)));
    }

    /// Returns an interface that `create` has checked.
    fn required(self: Host, comptime Interface: type, name: raw.Text) *const Interface {
        return self.find(Interface, name) orelse @panic("this host lacks an interface");
    }

    fn requests(self: Host) *const raw.HostRequest {
        return self.required(raw.HostRequest, "searchlight.request/1");
    }
    fn items(self: Host) *const raw.HostItems {
        return self.required(raw.HostItems, "searchlight.items/1");
    }
    fn batches(self: Host) *const raw.HostBatch {
        return self.required(raw.HostBatch, "searchlight.batch/1");
    }

    /// Returns the identifier of the extension's bundle.
    pub fn bundleIdentifier(self: Host) [:0]const u8 {
        return std.mem.span(self.raw.bundle_identifier);
    }
    /// Returns the absolute path of the extension's bundle.
    pub fn bundlePath(self: Host) [:0]const u8 {
        return std.mem.span(self.raw.bundle_path);
    }

    /// Creates an item, which the caller releases with `deinit`.
    pub fn item(self: Host, identifier: []const u8, options: ItemOptions) !Item {
        var arena = std.heap.ArenaAllocator.init(gpa);
        defer arena.deinit();
        const memory = arena.allocator();
        const table = self.items();
        const made = table.create(
            self.raw,
            (try terminated(memory, identifier)).ptr,
            try terminatedOrNull(memory, options.domain),
            try terminatedOrNull(memory, options.content_type),
        ) orelse return fail(error.InvalidArgument, "creating the item \"{s}\" failed", .{identifier});
        return .{ .raw = made, .host = self, .table = table };
    }

    /// Creates an empty batch, which the caller releases with `deinit`.
    pub fn batch(self: Host) !Batch {
        const table = self.batches();
        const made = table.create(self.raw) orelse return fail(error.TooLarge, "too many batches are not released", .{});
        return .{ .raw = made, .host = self, .table = table };
    }

    /// Logs a message of at most 1,024 bytes for the maintainer of the extension.
    pub fn log(self: Host, level: LogLevel, comptime format: []const u8, arguments: anytype) void {
        const table = self.find(raw.HostLog, "searchlight.log/1") orelse return;
        var buffer: [1024]u8 = undefined;
        var writer: std.Io.Writer = .fixed(buffer[0 .. buffer.len - 1]);
        writer.print(format, arguments) catch {};
        var length = writer.buffered().len;
        while (length > 0 and !std.unicode.utf8ValidateSlice(buffer[0..length])) length -= 1;
        buffer[length] = 0;
        table.log(self.raw, @backingInt(level), buffer[0..length :0].ptr);
    }

    /// Reports content that is not indexed. The reason is the same for all content of a kind.
    pub fn reportLeftOut(self: Host, name: []const u8, reason: []const u8) !void {
        const table = self.find(raw.HostLeftOut, "searchlight.left-out/1") orelse return;
        var arena = std.heap.ArenaAllocator.init(gpa);
        defer arena.deinit();
        const memory = arena.allocator();
        table.report(self.raw, (try terminated(memory, name)).ptr, (try terminated(memory, reason)).ptr);
    }

    fn content(self: Host) Error!*const raw.HostContent {
        return self.find(raw.HostContent, "searchlight.content-draft/1") orelse
            fail(error.Unsupported, "this host takes no descriptors and streams", .{});
    }

    /// Sets the class of a named index for all later donations of this worker. The first one makes
    /// the index encrypted. It fails with `error.Unavailable` while the store is locked, and with
    /// `error.Failed` if the index has items without encryption.
    ///
    /// If the host cannot encrypt, the error is `error.Unsupported`. Do not donate items then that
    /// must be encrypted.
    pub fn setClass(self: Host, index: []const u8, class: ProtectionClass) !void {
        const table = self.find(raw.HostProtection, "searchlight.protection/1") orelse
            return fail(error.Unsupported, "this host cannot encrypt an index", .{});
        const name = try terminated(gpa, index);
        defer gpa.free(name);
        try check(table.set_class(self.raw, name, @backingInt(class)), "setting the class of an index");
    }

    /// Lists identifiers of the extension's own items in the default index, as `listItemsOf`.
    pub fn listItems(self: Host, memory: std.mem.Allocator, after: ?[]const u8, limit: u32) ![][]const u8 {
        return self.listItemsOf(null, memory, after, limit);
    }

    /// Lists identifiers of the extension's own items in an index (null: the default index), sorted
    /// by their bytes, after everything that was sent before is durable. A page shorter than `limit`
    /// (at most `maximum_listing`) is the last. The result is allocated with `memory`; use an arena,
    /// so that you need not free each text.
    pub fn listItemsOf(self: Host, index: ?[]const u8, memory: std.mem.Allocator, after: ?[]const u8, limit: u32) ![][]const u8 {
        const Listing = struct {
            answer: Answer([][]const u8),
            memory: std.mem.Allocator,

            fn copied(allocator: std.mem.Allocator, texts: ?[*]const raw.Text, count: usize) ![][]const u8 {
                const list = try allocator.alloc([]const u8, count);
                for (list, 0..) |*text, place| text.* = try allocator.dupe(u8, std.mem.span(texts.?[place]));
                return list;
            }
            fn take(context: ?*anyopaque, number: i32, text: ?raw.Text, texts: ?[*]const raw.Text, count: usize) callconv(.c) void {
                const own: *@This() = @ptrCast(@alignCast(context));
                own.answer.give(copied(own.memory, texts, if (number == raw.ok) count else 0), number, text);
            }
        };
        const table = self.find(raw.HostListing, "searchlight.listing/1") orelse
            return fail(error.Unsupported, "this host cannot list items", .{});
        const start = if (after) |text| try terminated(gpa, text) else null;
        defer if (start) |text| gpa.free(text);
        const named = if (index) |text| try terminated(gpa, text) else null;
        defer if (named) |text| gpa.free(text);
        var listing: Listing = .{ .answer = undefined, .memory = memory };
        listing.answer.init();
        const pointer: ?raw.Text = if (start) |text| text.ptr else null;
        const name: ?raw.Text = if (named) |text| text.ptr else null;
        try check(table.list_items(self.raw, name, pointer, limit, Listing.take, &listing), "requesting a list of items");
        return listing.answer.wait();
    }

    /// Reads the client state of the last durable batch of an index (null: the default index); null
    /// if there is none. The result is in memory of the allocator.
    pub fn readClientState(self: Host, memory: std.mem.Allocator, index: ?[]const u8) !?[]const u8 {
        const State = struct {
            answer: Answer(?[]const u8),
            memory: std.mem.Allocator,

            fn copied(allocator: std.mem.Allocator, bytes: raw.Bytes, length: usize) !?[]const u8 {
                return if (bytes) |start| try allocator.dupe(u8, start[0..length]) else null;
            }
            fn take(context: ?*anyopaque, number: i32, text: ?raw.Text, bytes: raw.Bytes, length: usize) callconv(.c) void {
                const own: *@This() = @ptrCast(@alignCast(context));
                own.answer.give(copied(own.memory, bytes, length), number, text);
            }
        };
        const name = if (index) |text| try terminated(gpa, text) else null;
        defer if (name) |text| gpa.free(text);
        var state: State = .{ .answer = undefined, .memory = memory };
        state.answer.init();
        const pointer: ?raw.Text = if (name) |text| text.ptr else null;
        try check(self.batches().read_state(self.raw, pointer, State.take, &state), "requesting the client state");
        return state.answer.wait();
    }
};

/// The most identifiers of one call of `Host.listItems`.
pub const maximum_listing = 1000;

/// The protection class of an index: not encrypted, or encrypted. While the store is locked,
/// `complete_unless_open` accepts donations, and `complete` rejects them.
pub const ProtectionClass = enum(i32) { none = 0, complete_unless_open = 1, complete = 2 };

/// The level of a log message.
pub const LogLevel = enum(i32) { info = 1, warning = 2, err = 3 };

/// The domain of an item, dotted, and its uniform type identifier.
pub const ItemOptions = struct { domain: ?[]const u8 = null, content_type: ?[]const u8 = null };

/// A date, in seconds since 1970-01-01 UTC.
pub const Date = struct { seconds: f64 };

/// Bytes as the value of an attribute. A slice of `u8` is a text.
pub const Data = struct { bytes: []const u8 };

/// Search traits of attributes of your own.
pub const searchable: u32 = 1;
pub const searchable_by_default: u32 = 2;

/// An item to donate. One thread at a time.
pub const Item = struct {
    raw: *raw.RawItem,
    host: Host,
    table: *const raw.HostItems,

    /// Releases the item. A batch keeps its own copy.
    pub fn deinit(self: Item) void {
        self.table.release(self.raw);
    }

    /// Sets an attribute: a text, a slice of texts, a number, a `bool`, a `Date` or `Data`.
    pub fn set(self: Item, name: [:0]const u8, value: anytype) !void {
        const Value = @TypeOf(value);
        var arena = std.heap.ArenaAllocator.init(gpa);
        defer arena.deinit();
        const memory = arena.allocator();
        const number = switch (Value) {
            bool => self.table.set_boolean(self.raw, name, @intFromBool(value)),
            Date => self.table.set_date(self.raw, name, value.seconds),
            Data => self.table.set_data(self.raw, name, value.bytes.ptr, value.bytes.len),
            []const []const u8, [][]const u8 => try self.setTexts(memory, name, value),
            else => switch (@typeInfo(Value)) {
                .int, .comptime_int => self.table.set_integer(self.raw, name, value),
                .float, .comptime_float => self.table.set_number(self.raw, name, value),
                .pointer => |pointer| if (comptime (isText(pointer.child) or pointer.child == u8))
                    self.table.set_string(self.raw, name, (try terminated(memory, value)).ptr)
                else
                    try self.setTexts(memory, name, value),
                else => @compileError("an attribute cannot have a value of the type " ++ @typeName(Value)),
            },
        };
        try check(number, name);
    }

    fn isText(comptime Child: type) bool {
        return switch (@typeInfo(Child)) {
            .array => |array| array.child == u8,
            else => false,
        };
    }

    fn setTexts(self: Item, memory: std.mem.Allocator, name: [:0]const u8, texts: []const []const u8) !i32 {
        const list = try pointers(memory, texts);
        return self.table.set_strings(self.raw, name, list.ptr, list.len);
    }

    /// Sets the traits of a custom attribute, a sum of `searchable` and `searchable_by_default`.
    pub fn setTraits(self: Item, name: [:0]const u8, traits: u32) !void {
        const table = self.host.find(raw.HostCustomKeys, "searchlight.custom-keys/1") orelse
            return fail(error.Unsupported, "this host has no traits", .{});
        try check(table.set_traits(self.raw, name, traits), name);
    }

    /// Sets the date of expiration. The default is 30 days.
    pub fn expire(self: Item, date: Date) !void {
        try check(self.table.set_expiration(self.raw, date.seconds), "setting the expiration");
    }
    /// Lets the item never expire.
    pub fn neverExpire(self: Item) !void {
        try self.expire(.{ .seconds = std.math.inf(f64) });
    }
};

/// The client state that must be stored, so that a batch is carried out.
pub const Expectation = union(enum) { any, none, state: []const u8 };

/// A client state, which a batch of a named index stores.
pub const ClientState = struct {
    index: []const u8,
    /// At most 250 bytes.
    state: []const u8,
    expected: Expectation = .any,
};

/// Changes that become durable together, or not at all: at most 32 MiB. One thread at a time.
pub const Batch = struct {
    raw: *raw.RawBatch,
    host: Host,
    table: *const raw.HostBatch,

    /// Releases the batch.
    pub fn deinit(self: Batch) void {
        self.table.release(self.raw);
    }

    /// Adds an item.
    pub fn add(self: Batch, item: Item) !void {
        const list = [_]*raw.RawItem{item.raw};
        try check(self.table.index_items(self.raw, &list, 1), "adding an item to a batch");
    }

    /// Removes items.
    pub fn remove(self: Batch, identifiers: []const []const u8) !void {
        var arena = std.heap.ArenaAllocator.init(gpa);
        defer arena.deinit();
        const list = try pointers(arena.allocator(), identifiers);
        try check(self.table.delete_items(self.raw, list.ptr, list.len), "removing items");
    }

    /// Removes domains with their subdomains.
    pub fn removeDomains(self: Batch, domains: []const []const u8) !void {
        var arena = std.heap.ArenaAllocator.init(gpa);
        defer arena.deinit();
        const list = try pointers(arena.allocator(), domains);
        try check(self.table.delete_domains(self.raw, list.ptr, list.len), "removing domains");
    }

    /// Removes all items. In a full reindex they are found until its end.
    pub fn removeAll(self: Batch) !void {
        try check(self.table.delete_all(self.raw), "removing all items");
    }

    /// Gives the items `old` the identifiers `new`, all at once.
    pub fn rename(self: Batch, old: []const []const u8, new: []const []const u8) !void {
        const table = self.host.find(raw.HostRename, "searchlight.rename/1") orelse
            return fail(error.Unsupported, "this host cannot rename items", .{});
        if (old.len != new.len) return fail(error.InvalidArgument, "the lists differ in length", .{});
        var arena = std.heap.ArenaAllocator.init(gpa);
        defer arena.deinit();
        const list = try pointers(arena.allocator(), old);
        const names = try pointers(arena.allocator(), new);
        try check(table.rename_in_batch(self.raw, list.ptr, names.ptr, list.len), "renaming items");
    }

    /// Makes the changes durable, and returns then.
    pub fn commit(self: Batch) !void {
        try self.send(null, null, .any);
    }

    /// Makes the changes durable together with a client state.
    pub fn commitState(self: Batch, state: ClientState) !void {
        const name = try terminated(gpa, state.index);
        defer gpa.free(name);
        try self.send(name.ptr, state.state, state.expected);
    }

    fn send(self: Batch, index: ?raw.Text, state: ?[]const u8, expected: Expectation) !void {
        const Commit = struct {
            fn take(context: ?*anyopaque, number: i32, text: ?raw.Text) callconv(.c) void {
                const answer: *Answer(void) = @ptrCast(@alignCast(context));
                answer.give({}, number, text);
            }
        };
        const wanted: []const u8 = switch (expected) {
            .state => |bytes| bytes,
            else => "",
        };
        const bytes = state orelse "";
        var answer: Answer(void) = undefined;
        answer.init();
        const number = self.table.commit(
            self.host.raw,
            index,
            self.raw,
            bytes.ptr,
            bytes.len,
            switch (expected) {
                .any => 0,
                .none => 1,
                .state => 2,
            },
            wanted.ptr,
            wanted.len,
            Commit.take,
            &answer,
        );
        try check(number, "sending a batch");
        try answer.wait();
    }
};

/// A request in progress.
pub const Request = struct {
    host: Host,
    number: u64,
    /// Memory that is freed after the answer.
    arena: std.mem.Allocator,

    /// Returns true once the host no longer waits for the answer.
    pub fn isCancelled(self: Request) bool {
        const table = self.host.find(raw.HostCancel, "searchlight.cancel/1") orelse return false;
        return table.is_cancelled(self.host.raw, self.number) != 0;
    }
    /// Fails with `error.Cancelled` once the host no longer waits. Call it in long work.
    pub fn check(self: Request) Error!void {
        if (self.isCancelled()) return fail(error.Cancelled, "the request was cancelled", .{});
    }
    /// Reports the progress; `total` is 0 if it is not known.
    pub fn report(self: Request, completed: u64, total: u64) void {
        const table = self.host.find(raw.HostProgress, "searchlight.progress/1") orelse return;
        table.report(self.host.raw, self.number, completed, total);
    }
};

/// The limits of a page, and where it starts.
pub const Page = struct {
    /// The cursor that the previous page returned (at most 4,096 bytes); null for the first.
    cursor: ?[]const u8,
    /// The bytes of memory above which the worker is ended.
    memory_limit: u64,
    /// The page ends after about this number of items,
    items: u32,
    /// or after this time.
    milliseconds: u32,
};

/// A change of a file. Read each file as it is now.
pub const Change = union(enum) {
    /// The file is new, or its content or mode has changed.
    changed: []const u8,
    /// The file has another path, and perhaps another content.
    moved: struct { from: []const u8, to: []const u8 },
    /// There is no file at the path any more.
    removed: []const u8,
};

/// Large data that fulfils a promise.
pub const Content = union(enum) {
    /// Bytes in memory.
    data: []const u8,
    /// An open regular file, which is read from its start. The kit closes it.
    descriptor: i32,
    /// Data of a known length that is made piece by piece, without memory for all of it.
    stream: Stream,
};

/// A source of `length` bytes. `read` fills a part of the buffer and returns its length; it is
/// called on the thread of the request, after the answer.
pub const Stream = struct {
    length: u64,
    context: *anyopaque,
    read: *const fn (context: *anyopaque, buffer: []u8) anyerror!usize,
};

/// A file that fulfils a promise: an absolute path. `remove_after` is for a file in `$TMPDIR`.
pub const ProvidedFile = struct { path: []const u8, remove_after: bool = false };

/// The item to preview, the user's query, and the path of the item's `contentURL`.
pub const PreviewRequest = struct { item: []const u8, query: ?[]const u8, content_path: ?[]const u8 };

/// A part of a preview, to which its HTML refers as `cid:IDENTIFIER`.
pub const Attachment = struct { identifier: []const u8, content_type: []const u8, content: []const u8 };

/// The displayed content of an item.
pub const Preview = struct {
    /// `public.html`, `public.plain-text`, `public.rtf`, `public.png`, `public.jpeg` or `com.adobe.pdf`.
    content_type: []const u8,
    /// At most 32 MiB with the attachments.
    content: []const u8,
    /// The title; null is the item's.
    title: ?[]const u8 = null,
    /// The intended size in points; 0 for none.
    width: f64 = 0,
    height: f64 = 0,
    attachments: []const Attachment = &.{},
};

/// A notice of throttling. The reason is 1 for an active user, 2 battery, 3 pressure, 4 requested.
pub const Throttle = struct { reason: i32, items_per_second: f64 };

/// Exports the entry point of the library: the struct of the extension, and its bundle identifier.
pub fn register(comptime Extension: type, comptime identifier: [:0]const u8) void {
    const entry = struct {
        const table: raw.Entry = .{
            .abi_major = raw.abi_major,
            .abi_minor = raw.abi_minor,
            .identifier = identifier.ptr,
            .create = Calls(Extension).create,
            .destroy = null,
            .get_interface = Calls(Extension).getInterface,
        };
        fn point() callconv(.c) *const raw.Entry {
            return &table;
        }
    };
    @export(&entry.point, .{ .name = "searchlight_extension_entry_point" });
}

/// The functions that the host calls. Each answers its request exactly once.
fn Calls(comptime Extension: type) type {
    return struct {
        const Loaded = struct { host: Host, extension: Extension };
        /// The one object of this process.
        var loaded: Loaded = undefined;

        fn create(host: *const raw.RawHost, instance: *?*raw.Instance, text: [*]u8, capacity: usize) callconv(.c) i32 {
            made(.{ .raw = host }) catch |failure| {
                const reason = messageOf(failure);
                if (capacity > 0) {
                    const length = @min(reason.len, capacity - 1);
                    @memcpy(text[0..length], reason[0..length]);
                    text[length] = 0;
                }
                return status(failure);
            };
            instance.* = @ptrCast(&loaded);
            return raw.ok;
        }

        fn made(host: Host) !void {
            inline for (.{ "searchlight.request/1", "searchlight.items/1", "searchlight.batch/1" }) |name| {
                if (host.find(u8, name) == null) return fail(error.Unsupported, "this host lacks " ++ name, .{});
            }
            loaded = .{ .host = host, .extension = try Extension.create(host) };
        }

        fn getInterface(_: *raw.Instance, name: raw.Text) callconv(.c) ?*const anyopaque {
            const wanted = std.mem.span(name);
            if (comptime (@hasDecl(Extension, "reindexAll") or @hasDecl(Extension, "reindexItems"))) {
                if (std.mem.eql(u8, wanted, "searchlight.reindex/1")) return &reindex;
            }
            if (comptime @hasDecl(Extension, "reindexEncryptedItems")) {
                if (std.mem.eql(u8, wanted, "searchlight.encrypted-items/1")) return &encrypted_items;
            }
            if (comptime @hasDecl(Extension, "reindexPage")) {
                if (std.mem.eql(u8, wanted, "searchlight.paging/1")) return &paging;
            }
            if (comptime @hasDecl(Extension, "updateFiles")) {
                if (std.mem.eql(u8, wanted, "searchlight.changes/1")) return &changes;
            }
            if (comptime (providesData or @hasDecl(Extension, "provideFile"))) {
                if (std.mem.eql(u8, wanted, "searchlight.promises/1")) return &promises;
            }
            if (comptime @hasDecl(Extension, "preview")) {
                if (std.mem.eql(u8, wanted, "searchlight.preview/1")) return &previews;
            }
            if (comptime @hasDecl(Extension, "didThrottle")) {
                if (std.mem.eql(u8, wanted, "searchlight.throttle/1")) return &throttling;
            }
            return null;
        }

        const providesData = @hasDecl(Extension, "provideData") or @hasDecl(Extension, "provideContent");

        const reindex: raw.ReindexTable = .{ .reindex_all = reindexAll, .reindex_items = reindexItems };
        const encrypted_items: raw.EncryptedItemsTable = .{ .reindex_encrypted_items = reindexEncryptedItems };
        const paging: raw.PagingTable = .{ .reindex_page = reindexPage };
        const changes: raw.ChangesTable = .{ .update_files = updateFiles };
        const promises: raw.PromisesTable = .{
            .provide_data = if (providesData) provideData else null,
            .provide_file = if (@hasDecl(Extension, "provideFile")) provideFile else null,
        };
        const previews: raw.PreviewTable = .{ .preview = preview };
        const throttling: raw.ThrottleTable = .{
            .did_throttle = didThrottle,
            .did_finish_throttle = if (@hasDecl(Extension, "didFinishThrottle")) didFinishThrottle else null,
        };

        /// Runs a function that answers a request, and answers with its error if it fails.
        fn answer(number: u64, comptime body: anytype, arguments: anytype) void {
            var arena = std.heap.ArenaAllocator.init(gpa);
            defer arena.deinit();
            message_length = 0;
            const request: Request = .{ .host = loaded.host, .number = number, .arena = arena.allocator() };
            @call(.auto, body, .{ request, loaded.host.requests() } ++ arguments) catch |failure| {
                loaded.host.requests().finish(loaded.host.raw, number, status(failure), messageOf(failure).ptr);
            };
        }

        fn acknowledge(request: Request, requests: *const raw.HostRequest) void {
            requests.finish(request.host.raw, request.number, raw.ok, null);
        }

        fn reindexAll(_: *raw.Instance, number: u64) callconv(.c) void {
            answer(number, struct {
                fn body(request: Request, requests: *const raw.HostRequest) !void {
                    if (!@hasDecl(Extension, "reindexAll")) return fail(error.Unsupported, "there is no reindexAll", .{});
                    try loaded.extension.reindexAll(request);
                    acknowledge(request, requests);
                }
            }.body, .{});
        }

        fn reindexItems(_: *raw.Instance, number: u64, identifiers: ?[*]const raw.Text, count: usize) callconv(.c) void {
            answer(number, struct {
                fn body(request: Request, requests: *const raw.HostRequest, start: ?[*]const raw.Text, length: usize) !void {
                    if (!@hasDecl(Extension, "reindexItems")) return fail(error.Unsupported, "there is no reindexItems", .{});
                    const list = try request.arena.alloc([]const u8, length);
                    for (list, 0..) |*text, place| text.* = std.mem.span(start.?[place]);
                    try loaded.extension.reindexItems(request, list);
                    acknowledge(request, requests);
                }
            }.body, .{ identifiers, count });
        }

        fn reindexEncryptedItems(_: *raw.Instance, number: u64, index: raw.Text, class: i32, identifiers: ?[*]const raw.Text, count: usize) callconv(.c) void {
            answer(number, struct {
                fn body(request: Request, requests: *const raw.HostRequest, name: []const u8, kind: i32, start: ?[*]const raw.Text, length: usize) !void {
                    const protection: ProtectionClass = switch (kind) {
                        1 => .complete_unless_open,
                        2 => .complete,
                        else => return fail(error.InvalidArgument, "the protection class is unknown", .{}),
                    };
                    const list = try request.arena.alloc([]const u8, length);
                    for (list, 0..) |*text, place| text.* = std.mem.span(start.?[place]);
                    try loaded.extension.reindexEncryptedItems(request, name, protection, list);
                    acknowledge(request, requests);
                }
            }.body, .{ std.mem.span(index), class, identifiers, count });
        }

        fn reindexPage(_: *raw.Instance, number: u64, page: *const raw.RawPage) callconv(.c) void {
            answer(number, struct {
                fn body(request: Request, requests: *const raw.HostRequest, wanted: *const raw.RawPage) !void {
                    const next: ?[]const u8 = try loaded.extension.reindexPage(request, .{
                        .cursor = if (wanted.cursor) |start| start[0..wanted.cursor_length] else null,
                        .memory_limit = wanted.memory_limit,
                        .items = wanted.items,
                        .milliseconds = wanted.milliseconds,
                    });
                    const start: raw.Bytes = if (next) |bytes| bytes.ptr else null;
                    requests.finish_page(request.host.raw, request.number, start, if (next) |bytes| bytes.len else 0);
                }
            }.body, .{page});
        }

        fn updateFiles(_: *raw.Instance, number: u64, list: ?[*]const *const raw.RawChange, count: usize) callconv(.c) void {
            answer(number, struct {
                fn body(request: Request, requests: *const raw.HostRequest, start: ?[*]const *const raw.RawChange, length: usize) !void {
                    const known = try request.arena.alloc(Change, length);
                    var used: usize = 0;
                    for (0..length) |place| {
                        const change = start.?[place];
                        const path = std.mem.span(change.path);
                        known[used] = switch (change.kind) {
                            1 => .{ .changed = path },
                            2 => .{ .moved = .{ .from = std.mem.span(change.previous_path orelse continue), .to = path } },
                            3 => .{ .removed = path },
                            else => continue, // the header asks to ignore other values
                        };
                        used += 1;
                    }
                    try loaded.extension.updateFiles(request, known[0..used]);
                    acknowledge(request, requests);
                }
            }.body, .{ list, count });
        }

        fn provideData(_: *raw.Instance, number: u64, item: raw.Text, content_type: raw.Text) callconv(.c) void {
            answer(number, struct {
                fn body(request: Request, requests: *const raw.HostRequest, name: []const u8, kind: []const u8) !void {
                    const content: Content = if (@hasDecl(Extension, "provideContent"))
                        try loaded.extension.provideContent(request, name, kind)
                    else
                        .{ .data = try loaded.extension.provideData(request, name, kind) };
                    switch (content) {
                        .data => |data| requests.finish_with_data(request.host.raw, request.number, data.ptr, data.len),
                        .descriptor => |file| {
                            defer _ = std.c.close(file);
                            const table = try request.host.content();
                            table.finish_with_descriptor(request.host.raw, request.number, file, null);
                        },
                        .stream => |source| try stream(request, source),
                    }
                }
            }.body, .{ std.mem.span(item), std.mem.span(content_type) });
        }

        /// Answers with a stream. A later error only ends the stream.
        fn stream(request: Request, source: Stream) !void {
            const table = try request.host.content();
            const buffer = try request.arena.alloc(u8, 256 << 10);
            const target = table.finish_with_stream(request.host.raw, request.number, source.length) orelse
                return fail(error.Unavailable, "there are too many streams or descriptors; end a stream first", .{});
            defer table.end(target);
            var left = source.length;
            while (left > 0) {
                const wanted = buffer[0..@intCast(@min(left, buffer.len))];
                const count = source.read(source.context, wanted) catch |failure| {
                    return request.host.log(.err, "A stream ended early: {s}", .{@errorName(failure)});
                };
                if (count == 0) return request.host.log(.err, "A stream ended early: {d} bytes are missing", .{left});
                // The receiver has gone if this fails.
                if (table.write(target, buffer.ptr, count) != raw.ok) return;
                left -= count;
            }
        }

        fn provideFile(_: *raw.Instance, number: u64, item: raw.Text, content_type: raw.Text, in_place: i32) callconv(.c) void {
            answer(number, struct {
                fn body(request: Request, requests: *const raw.HostRequest, name: []const u8, kind: []const u8, original: bool) !void {
                    const file: ProvidedFile = try loaded.extension.provideFile(request, name, kind, original);
                    const path = try terminated(request.arena, file.path);
                    requests.finish_with_file(request.host.raw, request.number, path.ptr, @intFromBool(file.remove_after));
                }
            }.body, .{ std.mem.span(item), std.mem.span(content_type), in_place != 0 });
        }

        fn preview(_: *raw.Instance, number: u64, item: raw.Text, query: ?raw.Text, path: ?raw.Text) callconv(.c) void {
            const wanted: PreviewRequest = .{
                .item = std.mem.span(item),
                .query = if (query) |text| std.mem.span(text) else null,
                .content_path = if (path) |text| std.mem.span(text) else null,
            };
            answer(number, struct {
                fn body(request: Request, requests: *const raw.HostRequest, asked: PreviewRequest) !void {
                    const shown: Preview = try loaded.extension.preview(request, asked);
                    const parts = try request.arena.alloc(raw.RawAttachment, shown.attachments.len);
                    const list = try request.arena.alloc(*const raw.RawAttachment, parts.len);
                    for (shown.attachments, parts, list) |from, *part, *pointer| {
                        part.* = .{
                            .identifier = (try terminated(request.arena, from.identifier)).ptr,
                            .content_type = (try terminated(request.arena, from.content_type)).ptr,
                            .bytes = from.content.ptr,
                            .length = from.content.len,
                        };
                        pointer.* = part;
                    }
                    requests.finish_with_preview(request.host.raw, request.number, &.{
                        .attachment_count = std.math.cast(u32, parts.len) orelse
                            return fail(error.TooLarge, "too many attachments", .{}),
                        .content_type = (try terminated(request.arena, shown.content_type)).ptr,
                        .title = try terminatedOrNull(request.arena, shown.title),
                        .bytes = shown.content.ptr,
                        .length = shown.content.len,
                        .width = shown.width,
                        .height = shown.height,
                        .attachments = list.ptr,
                    });
                }
            }.body, .{wanted});
        }

        fn didThrottle(_: *raw.Instance, notice: *const raw.RawThrottle) callconv(.c) void {
            loaded.extension.didThrottle(.{ .reason = notice.reason, .items_per_second = notice.items_per_second });
        }

        fn didFinishThrottle(_: *raw.Instance) callconv(.c) void {
            loaded.extension.didFinishThrottle();
        }
    };
}
