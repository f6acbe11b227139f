// SPDX-License-Identifier: Apache-2.0
import CSandbox
import ExtensionHost
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A sandbox policy")
struct SandboxPolicyTests {
    private func parse(_ bytes: [UInt8]) -> csandbox_parsed? {
        var parsed = csandbox_parsed()
        return csandbox_parse(bytes, bytes.count, &parsed) == 0 ? parsed : nil
    }

    /// Returns the rules as a worker would read them. Fails if any rule lies outside the bytes.
    private func rules(_ bytes: [UInt8]) throws -> [SandboxPolicy.Rule] {
        try bytes.withUnsafeBytes { buffer in
            var parsed = csandbox_parsed()
            try #require(csandbox_parse(buffer.baseAddress, buffer.count, &parsed) == 0)
            var next = try #require(UnsafeRawPointer(parsed.rules))
            return try (0..<parsed.head.rule_count).map { _ in
                let rule = next.loadUnaligned(as: csandbox_rule.self)
                let path = UnsafeRawBufferPointer(start: next + 8, count: Int(rule.length))
                next += 8 + Int(rule.length) + 1
                let end = try #require(buffer.baseAddress) + buffer.count
                try #require(next <= end)
                return SandboxPolicy.Rule(
                    String(decoding: path, as: UTF8.self), try #require(SandboxPolicy.Access(rawValue: rule.access)))
            }
        }
    }

    @Test("arrives unchanged")
    func roundTrip() throws {
        var policy = SandboxPolicy()
        policy.rules = [
            .init("/usr", .read), .init("/home/ü/x y", .write), .init("/" + String(repeating: "a", count: 4094), .read),
        ]
        policy.memoryLimit = 100 << 20
        let programs = try #require(try SeccompPrograms.programs(for: policy))
        #expect(!programs.telling.isEmpty && !programs.plain.isEmpty)
        let bytes = try policy.encoded(programs, host: 4711)
        #expect(try rules(bytes) == policy.rules)
        let head = try #require(parse(bytes)).head
        #expect(head.data_limit == 100 << 20 && head.address_limit > head.data_limit)
        #expect(head.host == 4711 && head.protections == SandboxProtections.all.rawValue)
        #expect(Int(head.telling_count + head.plain_count) * 8 == programs.telling.count + programs.plain.count)
    }

    @Test("that is too large for its message is refused with the remedy")
    func tooLarge() throws {
        var policy = SandboxPolicy()
        policy.rules = (0..<600).map { .init("/srv/\($0)", .read) }
        #expect(throws: ExtensionError.self) { _ = try policy.encoded(nil, host: 1) }
        policy.rules = (0..<40).map { .init("/\($0)" + String(repeating: "a", count: 4000), .read) }
        #expect(throws: ExtensionError.self) { _ = try policy.encoded(nil, host: 1) }
        policy.rules = [.init("relative", .read)]
        #expect(throws: ExtensionError.self) { _ = try policy.encoded(nil, host: 1) }
        policy.rules = [.init("/zero\u{0}/x", .read)]
        #expect(throws: ExtensionError.self) { _ = try policy.encoded(nil, host: 1) }
    }

    @Test("that filters system calls starts no worker without libseccomp")
    func missingLibrary() throws {
        var policy = SandboxPolicy()
        let problem = "libseccomp.so.2 cannot be opened: no such file"
        let error = #expect(throws: ExtensionError.self) {
            _ = try SeccompPrograms.programs(for: policy, problem: problem)
        }
        #expect(error?.description.contains("\(problem). It filters the system calls") == true)
        policy.protections.remove(.systemCalls)
        #expect(throws: Never.self) { _ = try SeccompPrograms.programs(for: policy, problem: problem) }
    }

    @Test("that was damaged is rejected, or has no part outside its bytes", arguments: 0..<20)
    func damaged(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var policy = SandboxPolicy()
        policy.rules = [.init("/usr", .read), .init("/home/u/notes", .write), .init("/dev/null", .write)]
        let whole = try policy.encoded(SeccompPrograms.programs(for: policy), host: 1)
        for _ in 0..<2_000 {
            var bytes = whole
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
            case 1:
                bytes += (0..<Int.random(in: 1..<64, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            case 2:
                bytes = (0..<Int.random(in: 0..<400, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            default: break
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) where !bytes.isEmpty {
                // Mostly in the header and the rules.
                let place = Int.random(in: 0..<min(bytes.count, 160), using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            // Like a worker that has read the length.
            if bytes.count >= 12, Bool.random(using: &random) {
                withUnsafeBytes(of: UInt32(bytes.count)) { bytes.replaceSubrange(8..<12, with: $0) }
            }
            guard let parsed = parse(bytes) else { continue }
            let found = try rules(bytes)
            #expect(found.count == Int(parsed.head.rule_count))
            #expect(found.allSatisfy { $0.path.hasPrefix("/") && !$0.path.utf8.contains(0) })
        }
    }

    // MARK: What it is made of

    private func bundle(
        _ folder: TemporaryFolder, _ table: [String: Any], identifier: String = "com.example.test"
    ) throws -> ExtensionBundle {
        let path = folder.path + "/extensions/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let root: [String: Any] = [
            "CFBundleIdentifier": identifier, "CFBundleExecutable": "library.so", "Searchlight": table,
            "NSExtension": ["NSExtensionPointIdentifier": "com.apple.spotlight.index"],
        ]
        try PropertyListSerialization.data(fromPropertyList: root, format: .xml, options: 0)
            .write(to: URL(filePath: path + "/Info.plist"))
        // Any library for this machine. It is not loaded.
        let library = try #require(csandbox_library_with("swift_retain"))
        try FileManager.default.copyItem(atPath: String(cString: library), toPath: path + "/library.so")
        return try ExtensionBundle(at: path)
    }

    private func configuration(_ folder: TemporaryFolder) -> WorkerConfiguration {
        var configuration = WorkerConfiguration(
            workerPath: "/opt/searchlight/worker", frameworkFolder: nil,
            environment: ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path + "/config"])
        configuration.protectedFolders = [folder.path + "/.local/share/searchlight"]
        return configuration
    }

    @Test("grants the declared and the extension's own paths, and no others of the user")
    func granted() throws {
        let folder = try TemporaryFolder()
        let policy = SandboxPolicy(
            try bundle(folder, ["ReadablePaths": ["~/Music"], "WritablePaths": ["$XDG_PICTURES_DIR/scans"]]),
            configuration(folder), temporaryFolder: folder.path + "/t")
        let own = Set(policy.rules.filter { $0.path.hasPrefix(folder.path) })
        #expect(
            own == [
                .init(folder.path + "/extensions/com.example.test.searchext", .read),
                .init(folder.path + "/config/com.example.test", .read),
                .init(folder.path + "/.local/share/com.example.test", .write),
                .init(folder.path + "/.cache/com.example.test", .write),
                .init(folder.path + "/.local/share/mime", .read),
                .init(folder.path + "/t", .write), .init(folder.path + "/Music", .read),
                .init(folder.path + "/Pictures/scans", .write),
            ])
        #expect(policy.protections == .all && policy.withheld.isEmpty && !policy.allowsNetwork)
    }

    @Test("lists the watched readable paths, including paths from the user's lists, and no denied ones")
    func watched() throws {
        let folder = try TemporaryFolder()
        let lists = folder.path + "/config/com.example.other"
        for name in [lists, folder.path + "/Notes", folder.path + "/.local/share/searchlight"] {
            try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: true)
        }
        try Data("~/Listed\n/srv/listed\n~\n~/.ssh\nrelative\n".utf8).write(to: URL(filePath: lists + "/folders"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/alias", withDestinationPath: ".local/share/searchlight")
        var table: [String: Any] = [
            "ReadablePaths": ["~/Notes", "~/alias", "~/later", "$BUNDLE/templates"],
            "ReadablePathsFrom": ["$XDG_CONFIG_HOME/com.example.other/folders"], "WatchedPaths": true,
        ]
        let listed = [folder.path + "/Listed", "/srv/listed"]
        var configuration = configuration(folder)
        for mode in [WorkerConfiguration.SandboxMode.enforced, .off] {
            configuration.sandbox = mode
            let places = WatchedPlaces(
                of: try bundle(folder, table, identifier: "com.example.\(mode)"), configuration)
            #expect(places.places.map(\.path) == [folder.path + "/Notes", folder.path + "/later"] + listed)
            #expect(places.deciding == [folder.path + "/config/user-dirs.dirs"])
            #expect(places.lists == [lists + "/folders"] && places.unreadable.isEmpty)
        }
        table["WatchedPaths"] = [
            "$XDG_CONFIG_HOME/com.example.other/folders", "~/Notes/*/x", "~/alias/*", "~/Notes/*/x",
        ]
        let some = WatchedPlaces(of: try bundle(folder, table, identifier: "com.example.some"), configuration)
        #expect(some.places.map(\.path) == listed + [folder.path + "/Notes"])
        #expect(some.places.map(\.names) == [[], [], ["*", "x"]])
        table["WatchedPaths"] = nil
        let none = WatchedPlaces(of: try bundle(folder, table), configuration)
        #expect(none.places.isEmpty && none.deciding.isEmpty)
    }

    @Test("denies the home folder, the store and the bundle, in any spelling, with the reason")
    func withheld() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/.local/share/searchlight", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/alias", withDestinationPath: ".local/share/searchlight")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/all", withDestinationPath: ".")
        try FileManager.default.createDirectory(atPath: folder.path + "/Documents", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/Documents/extensions", withDestinationPath: "../extensions")
        // Absolute paths, because a manifest that names the other paths in this form is rejected.
        let declared = [
            folder.path + "/.local", folder.path + "/.local/share/searchlight/x", "~/alias", "~/all", folder.path,
        ]
        let policy = SandboxPolicy(
            try bundle(folder, ["ReadablePaths": declared, "WritablePaths": ["~/Documents/extensions"]]),
            configuration(folder),
            temporaryFolder: nil)
        #expect(policy.withheld.count == 6, "\(policy.withheld)")
        #expect(!policy.rules.contains { $0.path == folder.path + "/alias" || $0.path == folder.path })
        #expect(!policy.rules.contains { $0.access == .write && $0.path.contains("/extensions") })
    }

    @Test("allows no writes to folders of extensions, or to folders of other workers")
    func trusted() throws {
        let folder = try TemporaryFolder()
        let data = folder.path + "/.local/share/searchlight"
        // The parent folder exists and is reached through a link. The folder itself does not exist.
        try FileManager.default.createDirectory(atPath: folder.path + "/real", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/.local/share", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: folder.path + "/real")
        var configuration = self.configuration(folder)
        configuration.protectedFolders = []
        configuration.trustedFolders = [data + "/extensions"]
        configuration.temporaryFolder = folder.path + "/.cache/searchlight/workers"
        // Reached through links in Documents, because a manifest that names them directly is
        // rejected.
        let declared = ["store", "other", "real", "cache", "worker"].map { "~/Documents/" + $0 }
        let targets = [
            data, data + "/extensions/other.searchext", folder.path + "/real", folder.path + "/.cache/searchlight",
            folder.path + "/.cache/searchlight/workers/1",
        ]
        try FileManager.default.createDirectory(atPath: folder.path + "/Documents", withIntermediateDirectories: true)
        for (link, target) in zip(declared, targets) {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + link.dropFirst(), withDestinationPath: target)
        }
        let policy = SandboxPolicy(
            try bundle(
                folder, ["WritablePaths": declared, "ReadablePaths": ["~/real/extensions/other.searchext"]]),
            configuration, temporaryFolder: nil)
        #expect(policy.withheld.map(\.path) == described(declared), "\(policy.withheld)")
        #expect(policy.rules.contains(.init(folder.path + "/real/extensions/other.searchext", .read)))
    }

    /// Returns paths in the form that parsing produces.
    private func described(_ declared: [String]) -> [String] {
        declared.map { $0.hasPrefix("~/") ? "$HOME" + $0.dropFirst() : $0 }
    }

    @Test("grants no parent of all programs' files, or of processes, under any other name")
    func everybodys() throws {
        let folder = try TemporaryFolder()
        let declared = [
            folder.path + "/.local/share", folder.path + "/.local", "~/config", folder.path + "/.cache",
            "/proc/self/cwd", "/proc",
        ]
        var configuration = self.configuration(folder)
        configuration.protectedFolders = []
        configuration.temporaryFolder = nil
        let policy = SandboxPolicy(
            try bundle(folder, ["ReadablePaths": declared]), configuration, temporaryFolder: nil)
        #expect(policy.withheld.map(\.path) == described(declared), "\(policy.withheld)")
    }

    @Test("denies a closed path under any other name, and grants its siblings")
    func closedByAnotherName() throws {
        let folder = try TemporaryFolder()
        let home = folder.path
        for path in ["dotfiles/emacs", "dotfiles/notes", "dotfiles/vim", "notes", "units"] {
            try FileManager.default.createDirectory(
                atPath: home + "/Documents/" + path, withIntermediateDirectories: true)
        }
        for path in ["config/nvim", ".local/share/systemd", ".ssh", "keys"] {
            try FileManager.default.createDirectory(atPath: home + "/" + path, withIntermediateDirectories: true)
        }
        try Data().write(to: URL(filePath: home + "/Documents/dotfiles/bashrc"))
        for (link, target) in [
            (".bashrc", "Documents/dotfiles/bashrc"), (".emacs.d", "Documents/dotfiles/emacs"),
            ("config/fish", "../Documents/fish"), ("config/nvim/init.vim", home + "/Documents/dotfiles/vim"),
            (".local/share/systemd/user", home + "/Documents/units"), ("Documents/start", "../config/autostart"),
            ("Documents/shell", "../.bashrc"), (".gnupg", "keys"), ("Documents/mine", "../.ssh"), ("mine", ".ssh"),
            ("Documents/everything", "../."), ("Documents/system", "/etc"),
        ] {
            try FileManager.default.createSymbolicLink(atPath: home + "/" + link, withDestinationPath: target)
        }
        let writable = [
            "~/Documents", "~/Documents/dotfiles", "~/Documents/dotfiles/emacs/lisp", "~/Documents/dotfiles/bashrc",
            "~/Documents/dotfiles/vim", "~/Documents/fish", "~/Documents/units/x", "~/Documents/start",
            "~/Documents/shell",
            "~/Documents/mine", "~/Documents/everything", "~/Documents/everything/Documents", "~/Documents/system",
        ]
        let granted = ["~/Documents/dotfiles/notes", "~/Documents/notes", "~/Documents/everything/Documents/notes"]
        let policy = SandboxPolicy(
            try bundle(folder, ["WritablePaths": writable + granted]), configuration(folder), temporaryFolder: nil)
        #expect(policy.withheld.map(\.path) == described(writable), "\(policy.withheld)")
        for path in ["dotfiles/notes", "notes"] {
            #expect(policy.rules.contains(.init(home + "/Documents/" + path, .write)), "\(path)")
        }
        #expect(!policy.rules.contains { $0.path.contains("everything") }, "a rule is for what a link leads to")

        let readable = ["~/keys", "~/mine", home + "/.ssh/config", home + "/.local/share/keyrings"]
        try FileManager.default.removeItem(atPath: home + "/extensions")
        let reading = SandboxPolicy(
            try bundle(
                folder,
                ["ReadablePaths": readable + ["~/Documents/dotfiles"], "ReadablePathsFrom": [home + "/.ssh/list"]]),
            configuration(folder), temporaryFolder: nil)
        #expect(
            reading.withheld.map(\.path) == described(readable) + [home + "/.ssh/list"], "\(reading.withheld)")
        #expect(reading.rules.contains(.init(home + "/Documents/dotfiles", .read)))
    }

    @Test("gives no extension the folder of its name if systemd reads folders of that name")
    func nameOfASystemFolder() throws {
        let folder = try TemporaryFolder()
        let bundle = try self.bundle(folder, [:], identifier: "user-tmpfiles.d")
        let policy = SandboxPolicy(bundle, configuration(folder), temporaryFolder: nil)
        #expect(!policy.rules.contains { $0.access == .write && $0.path.hasSuffix("share/user-tmpfiles.d") })
        #expect(
            policy.withheld.map(\.path) == ["/.local/share", "/.cache"].map { folder.path + $0 + "/user-tmpfiles.d" })
    }

    @Test("does not follow links out of a bundle")
    func bundleLinks() throws {
        let folder = try TemporaryFolder()
        let bundle = try self.bundle(folder, ["ReadablePaths": ["$BUNDLE/data", "$BUNDLE/inner"]])
        try FileManager.default.createDirectory(atPath: folder.path + "/.ssh", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: bundle.directory + "/Resources", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: bundle.directory + "/data", withDestinationPath: "../../.ssh")
        try FileManager.default.createSymbolicLink(
            atPath: bundle.directory + "/inner", withDestinationPath: "Resources")
        let policy = SandboxPolicy(bundle, configuration(folder), temporaryFolder: nil)
        #expect(policy.withheld.map(\.path) == ["$BUNDLE/data"])
        #expect(!policy.rules.contains { $0.path == bundle.directory + "/data" })
        #expect(policy.rules.contains(.init(bundle.directory + "/Resources", .read)))
    }

    @Test("grants no path through a link, and no target of a link that the extension could have created")
    func links() throws {
        let folder = try TemporaryFolder()
        let home = folder.path
        for path in ["data", "Documents/marks/real", "disk/Pictures", "away", "notes"] {
            try FileManager.default.createDirectory(atPath: home + "/" + path, withIntermediateDirectories: true)
        }
        for (link, target) in [
            (".local", "data"), ("Pictures", "disk/Pictures"), ("Documents/marks/inner", "../../away"),
            ("around", "Documents/marks/inner/x"), ("inside", "Documents/marks/real"), ("list", "Documents/marks/list"),
            ("Documents/marks/circle", "circle"), ("way", "notes"),
        ] {
            try FileManager.default.createSymbolicLink(atPath: home + "/" + link, withDestinationPath: target)
        }
        try Data("~/way\n/proc/self\n/proc\n~/way/\n".utf8).write(to: URL(filePath: home + "/lists"))
        let unsafe = ["$XDG_DOCUMENTS_DIR/marks/inner", "~/around"]
        let policy = SandboxPolicy(
            try bundle(
                folder,
                [
                    "WritablePaths": ["$XDG_DOCUMENTS_DIR/marks", "$XDG_PICTURES_DIR/scans"],
                    "ReadablePaths": unsafe + ["~/inside", "~/way/x", "$XDG_DOCUMENTS_DIR/marks/circle"],
                    "ReadablePathsFrom": ["~/lists", "~/list"],
                ]), configuration(folder), temporaryFolder: home + "/.local/t")
        let own = Set(policy.rules.filter { $0.path.hasPrefix(home) })
        #expect(
            own == [
                .init(home + "/extensions/com.example.test.searchext", .read), .init(home + "/data/t", .write),
                .init(home + "/config/com.example.test", .read), .init(home + "/data/share/com.example.test", .write),
                .init(home + "/.cache/com.example.test", .write), .init(home + "/data/share/mime", .read),
                .init(home + "/Documents/marks", .write), .init(home + "/disk/Pictures/scans", .write),
                .init(home + "/Documents/marks/real", .read), .init(home + "/notes/x", .read),
                .init(home + "/notes", .read),
            ], "\(policy.withheld)")
        for rule in policy.rules where rule.access == .read || rule.access == .write {
            let opened = csandbox_open_exactly(rule.path, 0)
            #expect(opened >= 0 || opened == -ENOENT, "\(rule.path): \(opened)")
            close(opened)
        }
        let withheld = policy.withheld.filter { $0.reason.contains("link in a folder that the extension can change") }
        #expect(Set(withheld.map(\.path)) == Set(described(unsafe)), "\(policy.withheld)")
        #expect(policy.withheld.contains { $0.path == "$HOME/list" && $0.reason.contains("can write") })
        #expect(policy.withheld.contains { $0.path.hasSuffix("/circle") && $0.reason.contains("too many links") })
        #expect(policy.withheld.filter { $0.path.hasPrefix("/proc") }.count == 2, "\(policy.withheld)")
    }

    @Test("is made in a bounded number of steps, with any lists and links")
    func bounded() throws {
        let folder = try TemporaryFolder()
        let target = Array(repeating: "d/..", count: 800).joined(separator: "/")
        try FileManager.default.createDirectory(atPath: folder.path + "/d", withIntermediateDirectories: true)
        for number in 0..<2 {
            let next = number == 1 ? target : target + "/l1"
            try FileManager.default.createSymbolicLink(atPath: folder.path + "/l\(number)", withDestinationPath: next)
        }
        let lists = (0..<DeclaredAccess.maximumPaths).map { "~/lists/\($0)" }
        try FileManager.default.createDirectory(atPath: folder.path + "/lists", withIntermediateDirectories: true)
        for (number, list) in lists.enumerated() {
            try Data((0..<256).map { "~/l0/\(number)-\($0)\n" }.joined().utf8)
                .write(to: URL(filePath: folder.path + list.dropFirst()))
        }
        let policy = SandboxPolicy(
            try bundle(folder, ["ReadablePathsFrom": lists]), configuration(folder), temporaryFolder: nil)
        #expect(policy.rules.count + policy.withheld.count < 600, "\(policy.rules.count) \(policy.withheld.count)")
        // The bundle's own paths come first, and exist.
        #expect(policy.rules.contains { $0.path == "/usr" } && policy.rules.contains { $0.path.hasSuffix("searchext") })
        #expect(policy.withheld.contains { $0.reason.contains("too many links or names") })
    }

    @Test("accepts no file of another program as the extension's own folder")
    func ownFile() throws {
        let folder = try TemporaryFolder()
        let data = folder.path + "/.local/share"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try Data("recent".utf8).write(to: URL(filePath: data + "/com.example.test"))
        let policy = SandboxPolicy(try bundle(folder, [:]), configuration(folder), temporaryFolder: nil)
        #expect(!policy.rules.contains { $0.path == data + "/com.example.test" })
        #expect(policy.rules.contains(.init(folder.path + "/.cache/com.example.test", .write)))
    }

    @Test("grants the folders of the user's lists, but no lists that the extension could write itself")
    func listed() throws {
        let folder = try TemporaryFolder()
        for (path, text) in [
            ("config/com.example.test/folders", "# mine\n~/notes\n!private\n/srv/notes/\n../x\n\n~\n"),
            (".cache/com.example.test/folders", "/etc\n"),
        ] {
            let file = URL(filePath: folder.path + "/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let policy = SandboxPolicy(
            try bundle(
                folder,
                [
                    "ReadablePathsFrom": [
                        "$XDG_CONFIG_HOME/com.example.test/folders", "$XDG_CACHE_HOME/com.example.test/folders",
                        "$XDG_CONFIG_HOME/com.example.test/missing",
                    ]
                ]), configuration(folder), temporaryFolder: nil)
        #expect(policy.rules.contains(.init(folder.path + "/notes", .read)))
        #expect(policy.rules.contains(.init("/srv/notes", .read)))
        #expect(!policy.rules.contains { $0.path == "/etc" })
        #expect(Set(policy.withheld.map(\.path)) == ["../x", "~", "$XDG_CACHE_HOME/com.example.test/folders"])
    }

    @Test("takes the documents folder from the desktop's settings")
    func documents() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/config", withIntermediateDirectories: true)
        let settings = folder.path + "/config/user-dirs.dirs"
        func documents() -> String? {
            UserFolders(environment: ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path + "/config"])?.documents
        }
        #expect(documents() == folder.path + "/Documents")
        for (text, expected) in [
            ("XDG_DOCUMENTS_DIR=\"$HOME/Papiere\"\n", folder.path + "/Papiere"),
            ("XDG_DOCUMENTS_DIR=\"$HOME/\"\n", nil),
            ("#XDG_DOCUMENTS_DIR=\"/x\"\nXDG_DOCUMENTS_DIR=\"/srv/d\"\n", "/srv/d"),
            ("XDG_DOCUMENTS_DIR=\"../x\"\n", folder.path + "/Documents"),
        ] as [(String, String?)] {
            try Data(text.utf8).write(to: URL(filePath: settings))
            #expect(documents() == expected)
        }
    }
}
