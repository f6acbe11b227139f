// SPDX-License-Identifier: Apache-2.0
//! Uses everything of the kit for Zig. KitTests.swift calls it; everything.py does the same.
const std = @import("std");
const searchlight = @import("searchlight");

const io = std.Io.Threaded.global_single_threaded.io();

const Everything = struct {
    host: searchlight.Host,

    pub fn create(host: searchlight.Host) !Everything {
        return .{ .host = host };
    }

    pub fn reindexPage(self: *Everything, request: searchlight.Request, page: searchlight.Page) !?[]const u8 {
        try request.check();
        request.report(1, 2);
        try self.donate(&.{page.cursor orelse "first"});
        return if (page.cursor == null) "second" else null;
    }

    pub fn reindexItems(self: *Everything, _: searchlight.Request, identifiers: []const []const u8) !void {
        try self.donate(identifiers);
    }

    pub fn reindexEncryptedItems(self: *Everything, request: searchlight.Request, index: []const u8, class: searchlight.ProtectionClass, identifiers: []const []const u8) !void {
        for (identifiers) |identifier| {
            const name = try std.fmt.allocPrint(request.arena, "{s} {d} {s}", .{ index, @backingInt(class), identifier });
            try self.donate(&.{name});
        }
    }

    pub fn updateFiles(self: *Everything, request: searchlight.Request, changes: []const searchlight.Change) !void {
        for (changes) |change| switch (change) {
            .changed => |path| try self.donate(&.{try named(request, 1, path)}),
            .moved => |paths| try self.donate(&.{ try named(request, 2, paths.from), try named(request, 2, paths.to) }),
            .removed => |path| try self.donate(&.{try named(request, 3, path)}),
        };
    }

    /// 1000 bytes of each value.
    var place: usize = 0;

    fn pattern(_: *anyopaque, buffer: []u8) anyerror!usize {
        for (buffer) |*byte| {
            byte.* = @truncate(place / 1000);
            place += 1;
        }
        return buffer.len;
    }

    fn broken(_: *anyopaque, _: []u8) anyerror!usize {
        return error.Broken;
    }

    pub fn provideContent(self: *Everything, request: searchlight.Request, name: []const u8, kind: []const u8) !searchlight.Content {
        if (std.mem.eql(u8, name, "stream")) {
            place = 0;
            return .{ .stream = .{ .length = 300_000, .context = self, .read = pattern } };
        }
        if (std.mem.eql(u8, name, "broken_stream"))
            return .{ .stream = .{ .length = 300_000, .context = self, .read = broken } };
        if (std.mem.eql(u8, name, "open_file")) {
            // O_TMPFILE | O_RDWR
            const file = open(std.c.getenv("TMPDIR") orelse return error.NoFile, 0o20200002, @as(c_uint, 0o600));
            const text = "from a file without a name";
            if (std.c.write(file, text, text.len) != text.len) return error.NoFile;
            return .{ .descriptor = file };
        }
        return .{ .data = try self.provideData(request, name, kind) };
    }

    extern "c" fn open(path: [*:0]const u8, flags: c_int, ...) c_int;

    pub fn provideData(self: *Everything, request: searchlight.Request, name: []const u8, _: []const u8) ![]const u8 {
        const wanted = std.meta.stringToEnum(enum { state, listing, encrypted, printing, refused, missing, crash, bad_text, rights, where }, name) orelse
            return searchlight.fail(error.NotFound, "there is no {s}", .{name});
        switch (wanted) {
            .state => {
                const batch = try self.host.batch();
                defer batch.deinit();
                try batch.commitState(.{ .index = "notes", .state = "one" });
                batch.commitState(.{ .index = "notes", .state = "two", .expected = .{ .state = "other" } }) catch |failure| {
                    const state = try self.host.readClientState(request.arena, "notes") orelse "none";
                    return std.fmt.allocPrint(request.arena, "{s} {d}", .{ state, searchlight.status(failure) });
                };
                return "the state was accepted";
            },
            .listing => {
                const batch = try self.host.batch();
                defer batch.deinit();
                try batch.rename(&.{"first"}, &.{"renamed"});
                try batch.remove(&.{"second"});
                try batch.removeDomains(&.{"nothing"});
                try batch.commit();
                try self.host.reportLeftOut("third", "it is locked");
                const list = try self.host.listItems(request.arena, null, searchlight.maximum_listing);
                return std.mem.join(request.arena, ",", list);
            },
            .encrypted => {
                try self.host.setClass("health", .complete);
                const batch = try self.host.batch();
                defer batch.deinit();
                const item = try self.host.item("pulse", .{});
                defer item.deinit();
                try item.set("title", "Title of pulse");
                try batch.add(item);
                const donated = number(batch.commitState(.{ .index = "health", .state = "one" }));
                const list = self.host.listItemsOf("health", request.arena, null, 10) catch &.{};
                const long = try request.arena.alloc(u8, 4097);
                @memset(long, 'x');
                return std.fmt.allocPrint(request.arena, "{d} [{s}] {d} {d}", .{
                    donated,
                    try std.mem.join(request.arena, " ", list),
                    number(self.host.setClass("", .complete)),
                    number(self.host.setClass(long, .complete)),
                });
            },
            .printing => {
                std.debug.print("printed by the kit\n", .{});
                return "printed";
            },
            .refused => return searchlight.fail(error.Refused, "not today", .{}),
            .missing => {
                const path = "/usr/share/there-is-none";
                const file = std.Io.Dir.openFileAbsolute(io, path, .{}) catch |failure|
                    return searchlight.fail(error.NotFound, "{s}: {t}", .{ path, failure });
                file.close(io);
                return "it is there";
            },
            .crash => {
                std.debug.print("a fault of the author is printed\n", .{});
                return searchlight.fail(error.Failed, "a fault of the author", .{});
            },
            .bad_text => {
                const item = try self.host.item("a", .{});
                defer item.deinit();
                try item.set("title", "a\x00b");
                return "it was accepted";
            },
            .rights => return denied(request.arena),
            .where => return std.fmt.allocPrint(request.arena, "{s} {s}", .{
                self.host.bundleIdentifier(), std.fs.path.basename(self.host.bundlePath()),
            }),
        }
    }

    pub fn provideFile(
        _: *Everything,
        request: searchlight.Request,
        item: []const u8,
        _: []const u8,
        in_place: bool,
    ) !searchlight.ProvidedFile {
        const folder = std.mem.span(std.c.getenv("TMPDIR") orelse return error.Unavailable);
        const path = try std.fs.path.join(request.arena, &.{ folder, "made.txt" });
        const text = try std.fmt.allocPrint(request.arena, "{s} in place: {s}", .{ item, if (in_place) "True" else "False" });
        const cwd: std.Io.Dir = .cwd();
        try cwd.writeFile(io, .{ .sub_path = path, .data = text });
        return .{ .path = path, .remove_after = true };
    }

    pub fn preview(_: *Everything, request: searchlight.Request, wanted: searchlight.PreviewRequest) !searchlight.Preview {
        const image = try request.arena.alloc(u8, png.len / 2);
        const attachments = try request.arena.alloc(searchlight.Attachment, 1);
        attachments[0] = .{
            .identifier = "dot.png",
            .content_type = "public.png",
            .content = try std.fmt.hexToBytes(image, png),
        };
        return .{
            .content_type = "public.html",
            .content = try std.fmt.allocPrint(
                request.arena,
                "<p>{s} for {s}</p><img src='cid:dot.png'>",
                .{ wanted.item, wanted.query orelse "" },
            ),
            .title = "Shown",
            .width = 20,
            .height = 10,
            .attachments = attachments,
        };
    }

    pub fn didThrottle(self: *Everything, notice: searchlight.Throttle) void {
        self.host.log(.info, "throttled to {d}", .{notice.items_per_second});
    }

    pub fn didFinishThrottle(self: *Everything) void {
        self.host.log(.warning, "not throttled", .{});
    }

    fn donate(self: *Everything, identifiers: []const []const u8) !void {
        const batch = try self.host.batch();
        defer batch.deinit();
        for (identifiers) |identifier| {
            const item = try self.host.item(identifier, .{ .domain = "things", .content_type = "public.text" });
            defer item.deinit();
            var title: [200]u8 = undefined;
            try item.set("title", try std.fmt.bufPrint(&title, "Title of {s}", .{identifier}));
            try item.set("keywords", &.{ "one", "two" });
            try item.set("pageCount", 7);
            try item.set("rating", 4.5);
            try item.set("com_example_open", true);
            try item.set("contentCreationDate", searchlight.Date{ .seconds = 1000.5 });
            try item.set("com_example_bytes", searchlight.Data{ .bytes = &.{ 0, 1 } });
            try item.set("com_example_flavour", "cardamom");
            try item.setTraits("com_example_flavour", searchlight.searchable | searchlight.searchable_by_default);
            try item.expire(.{ .seconds = 4e9 });
            try batch.add(item);
        }
        try batch.commit();
    }
};

const png = "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489" ++
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082";

fn named(request: searchlight.Request, kind: u8, path: []const u8) ![]const u8 {
    return std.fmt.allocPrint(request.arena, "{d} {s}", .{ kind, path });
}

/// Returns the status of a result: that of its error, or 0.
fn number(result: anytype) i32 {
    result catch |failure| return searchlight.status(failure);
    return 0;
}

/// Returns the names of the attempts that failed.
fn denied(memory: std.mem.Allocator) ![]const u8 {
    var names: std.ArrayList([]const u8) = .empty;
    if (std.c.fork() < 0) try names.append(memory, "program");
    if (std.c.socket(std.c.AF.INET, std.c.SOCK.STREAM, 0) < 0) try names.append(memory, "connection");
    const home = if (std.c.access("/root", 0) == 0) "/root" else "/home";
    if (std.c.opendir(home) == null) try names.append(memory, "foreign_file");
    const protection: std.c.PROT = .{ .READ = true, .WRITE = true, .EXEC = true };
    const mapped = std.c.mmap(null, 4096, protection, .{ .TYPE = .PRIVATE, .ANONYMOUS = true }, -1, 0);
    if (mapped == std.c.MAP_FAILED) try names.append(memory, "executable_memory");
    return std.mem.join(memory, ",", names.items);
}

comptime {
    searchlight.register(Everything, "com.example.everything");
}
