// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Testing

@Suite("Declared access of an extension")
struct DeclaredAccessTests {
    private func access(_ table: Any?, executable: String? = "library.so") throws -> DeclaredAccess {
        var root: [String: Any] = [
            "CFBundleIdentifier": "com.example.test",
            "NSExtension": ["NSExtensionPointIdentifier": "com.apple.spotlight.index"],
        ]
        root["CFBundleExecutable"] = executable
        root["Searchlight"] = table
        let data = try PropertyListSerialization.data(fromPropertyList: root, format: .xml, options: 0)
        return try ExtensionManifest(propertyList: data).access
    }

    @Test("is empty without a Searchlight dictionary")
    func nothing() throws {
        #expect(try access(nil) == DeclaredAccess())
        #expect(DeclaredAccess().memoryLimit == 512 << 20)
    }

    @Test("knows of symbol bindings, whose callbacks need memory of their own")
    func bindings() throws {
        let binding = """
            serve reindexAll
            library "libc.so.6"
            call nftw(
                dirpath: text = path("~/Notes"),
                fn: donate(file: text, information: pointer, flag: int, level: pointer) -> int = 0
                    { identifier = file },
                nopenfd: int = 16, flags: int = 1
            ) -> _: int
            """
        #expect(try access(["SymbolBindings": [binding]], executable: nil).bindsSymbols)
    }

    @Test("includes changes of readable files, and no others")
    func watched() throws {
        var table: [String: Any] = [
            "ReadablePaths": ["~/Notes", "$XDG_CONFIG_HOME/browser", "$BUNDLE/templates", "/srv/mail"],
            "ReadablePathsFrom": ["$XDG_CONFIG_HOME/com.example.test/folders"],
        ]
        #expect(try access(table).watchedPaths == .none)
        for (value, expected) in [(true, WatchedPaths.all), (false, .none)] {
            table["WatchedPaths"] = value
            #expect(try access(table).watchedPaths == expected)
        }
        table["WatchedPaths"] = [
            "~/Notes", "~/Notes/2026/a.txt", "$XDG_CONFIG_HOME/browser/*/places*", "/srv/mail/in/*",
            "$XDG_CONFIG_HOME/com.example.test/folders",
        ]
        guard case .some(let paths) = try access(table).watchedPaths else {
            Issue.record("\(table)")
            return
        }
        #expect(
            paths.map(\.start.description) == [
                "$HOME/Notes", "$HOME/Notes/2026/a.txt", "$XDG_CONFIG_HOME/browser", "/srv/mail/in",
                "$XDG_CONFIG_HOME/com.example.test/folders",
            ])
        #expect(paths.map(\.names) == [[], [], ["*", "places*"], ["*"], []])
        #expect(paths.map(\.isList) == [false, false, false, false, true])
        for wrong in [
            "~/Note", "~/Notes2", "~/N*", "$XDG_CONFIG_HOME/*/places", "$BUNDLE/templates", "/srv", "/*", "*",
            "~/Notes/../x", "$XDG_CONFIG_HOME/com.example.test/folders/x",
        ] {
            table["WatchedPaths"] = [wrong]
            let problem = #expect(throws: BundleProblem.self, "\(wrong)") { _ = try access(table) }
            guard case .invalidValue("Searchlight.WatchedPaths", wrong, _)? = problem else {
                Issue.record("\(wrong): \(String(describing: problem))")
                return
            }
        }
    }

    @Test("is read with all its keys")
    func everything() throws {
        let access = try access([
            "ReadablePaths": ["~/Documents", "$XDG_DOCUMENTS_DIR", "$BUNDLE/templates", "/srv/mail"],
            "WritablePaths": ["$XDG_DATA_HOME/com.example.test/"],
            "ReadablePathsFrom": ["$XDG_CONFIG_HOME/com.example.test/folders"], "AllowsNetwork": true,
            "MemoryLimit": 128 << 20, "DesktopEntry": "org.example.Mail.desktop",
        ])
        #expect(
            access.readablePaths.map(\.description)
                == ["$HOME/Documents", "$XDG_DOCUMENTS_DIR", "$BUNDLE/templates", "/srv/mail"])
        #expect(access.writablePaths.map(\.description) == ["$XDG_DATA_HOME/com.example.test"])
        #expect(access.readablePathsFrom.map(\.base) == [.config])
        #expect(access.allowsNetwork && !access.bindsSymbols && access.memoryLimit == 128 << 20)
        #expect(access.desktopEntry == "org.example.Mail.desktop")
    }

    @Test(
        "rejects the bundle for an invalid path, one that leads out, or one that covers everything",
        arguments: [
            "", "/", "~", "$HOME", "$XDG_CONFIG_HOME", "$XDG_DATA_HOME/", "relative/path", "~other/Documents",
            "$PATH/x",
            "~/../other", "/srv/../etc", "$HOME/./x", "~/a\u{0}b", "~/a\nb", "~/../\u{301}x", "/srv/..//\u{301}",
            "~/a/../\u{200D}/b", "/" + String(repeating: "x", count: 1024),
        ])
    func wrongPath(path: String) throws {
        for key in ["ReadablePaths", "WritablePaths", "ReadablePathsFrom"] {
            #expect(DeclaredPath(path) == nil)
            // XML cannot contain a zero byte.
            guard !path.contains("\u{0}") else { continue }
            let problem = #expect(throws: BundleProblem.self) { _ = try access([key: [path]]) }
            guard case .invalidValue("Searchlight.\(key)", _, _)? = problem else {
                Issue.record("\(String(describing: problem))")
                return
            }
        }
    }

    @Test(
        "rejects the bundle for a value of the wrong kind or size, and names the key",
        arguments: [
            ("ReadablePaths", "~/Documents"), ("WritablePaths", [1, 2]), ("WritablePaths", ["$BUNDLE/cache"]),
            ("ReadablePathsFrom", ["x": "y"]), ("AllowsNetwork", "yes"), ("IdentifiersArePaths", "yes"),
            ("WatchedPaths", "~/Notes"), ("WatchedPaths", [1]), ("WatchedPaths", (0...64).map { "/srv/\($0)" }),
            ("MemoryLimit", "512"), ("MemoryLimit", 1),
            ("MemoryLimit", Int.max), ("MemoryLimit", -1), ("DesktopEntry", "../x.desktop"), ("DesktopEntry", ""),
            ("ReadablePaths", (0...64).map { "/srv/\($0)" }),
            ("WritablePaths", [String](repeating: "~/x", count: 8_000)),
        ] as [(String, any Sendable)])
    func wrongValue(key: String, value: any Sendable) throws {
        let problem = #expect(throws: BundleProblem.self) { _ = try access([key: value]) }
        guard case .invalidValue("Searchlight.\(key)", let shown, _)? = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(shown.count <= 300)
    }

    /// Returns the problem with a declared path.
    private func problem(_ key: String, _ path: String) -> BundleProblem? {
        do {
            _ = try access([key: [path]])
            return nil
        } catch {
            return error as? BundleProblem
        }
    }

    @Test(
        "rejects the bundle that would write where programs are started or configured, or to a parent of that",
        arguments: [
            "~/.bashrc", "~/.bashrc.d/x", "~/.zshenv", "~/.config", "~/.config/autostart",
            "~/.config/autostart/x.desktop",
            "$XDG_CONFIG_HOME/systemd/user", "~/.config/fish/conf.d", "~/.config/unknown-editor",
            "~/.config/mimeapps.list",
            "~/.config/environment.d", "~/.local", "~/.local/share", "~/.local/share/systemd/user/x.service",
            "$XDG_DATA_HOME/dbus-1/services", "~/.local/share/applications", "$XDG_DATA_HOME/user-tmpfiles.d",
            "~/.local/bin", "~/.local/lib/python3.11", "~/bin", "~/.ssh/config", "~/.gnupg",
            "~/.local/share/searchlight", "$XDG_DATA_HOME/searchlight/extensions/x.searchext", "~/.cache",
            "$XDG_CACHE_HOME/searchlight", "~/.cache/p10k-instant-prompt-u.zsh", "$XDG_CACHE_HOME/pypoetry/virtualenvs",
            "~/.local/share/direnv/allow", "$XDG_DATA_HOME/virtualenvs/x", "$XDG_DATA_HOME/chezmoi",
            "~/.mozilla/native-messaging-hosts",
            "~/.var/app/org.example.App/config/autostart",
            "/etc", "/etc/xdg/autostart/x.desktop", "/usr/local/bin", "/var/spool/cron", "/var",
            "/run/user/1000/systemd",
            "/home", "/home/u", "/home/u/.bashrc", "/root/.ssh", "/var/home/u/.config/autostart",
        ])
    func closedForWriting(path: String) {
        guard case .closedPath("Searchlight.WritablePaths", _, _, let advice)? = problem("WritablePaths", path) else {
            Issue.record("\(path) may be written")
            return
        }
        #expect(!advice.isEmpty)
    }

    @Test(
        "lets an extension write its own folders and documents",
        arguments: [
            "~/Documents/Recipes", "~/Music", "$XDG_DOCUMENTS_DIR", "$XDG_PICTURES_DIR/Recipes", "$XDG_VIDEOS_DIR",
            "$XDG_DOWNLOAD_DIR/Recipes", "$XDG_MUSIC_DIR", "$XDG_DATA_HOME/com.example.test",
            "~/.local/share/com.example.test/pages", "~/.local/state/com.example.test",
            "$XDG_STATE_HOME/com.example.test",
            "$XDG_CACHE_HOME/com.example.test", "$XDG_CONFIG_HOME/com.example.test",
            "~/.var/app/com.example.test/data", "~/.var/app/com.example.test/cache/x", "/home/u/Documents/Recipes",
        ])
    func openForWriting(path: String) { #expect(problem("WritablePaths", path) == nil) }

    @Test(
        "rejects the bundle that would read keys, passwords or the store, or a parent of them, in any spelling",
        arguments: [
            "~/.ssh", "~/.ssh/id_ed25519", "~/.gnupg", "~/.password-store/mail", "~/.local/share/keyrings", "~/.local",
            "$XDG_DATA_HOME/keyrings/login.keyring", "~/.config", "~/.netrc", "~/.npmrc", "~/.cargo",
            "$XDG_CONFIG_HOME/containers", "$XDG_DATA_HOME/searchlight/store",
            "/home", "/home/u", "/home/u/.ssh", "/root", "/etc", "/etc/shadow", "/run/user",
            "~/.config/gcloud", "~/.kube/config", "~/.docker/config.json", "~/.azure", "~/.config/gh/hosts.yml",
            "~/.pki",
            "~/.local/share/fish/fish_history", "~/.bash_history", "~/.zsh_history", "~/.python_history",
            "~/.psql_history",
            "~/.local/share/some-wallet", "~/.some-wallets/keys", "~/.config/some-tool/credentials.json",
            "~/.some-tool/token",
            "~/.mozilla/firefox/x/cookies.sqlite", "~/.mozilla/firefox/x/logins.json", "~/.mozilla/firefox/x/key4.db",
            "$XDG_CONFIG_HOME/chromium/Default/Login Data", "$XDG_CONFIG_HOME/some-mail/passwords", "~/.msmtprc",
            "~/.config/tool/api-token", "~/.bitcoin/wallet.dat", "~/.config/evolution/sources", "~/.terraform.d",
        ])
    func closedForReading(path: String) {
        for key in ["ReadablePaths", "ReadablePathsFrom"] {
            guard case .closedPath("Searchlight.\(key)", _, _, _)? = problem(key, path) else {
                Issue.record("\(key) may name \(path)")
                continue
            }
        }
    }

    @Test("suggests another declaration for a denied path")
    func closedPathAdvice() {
        #expect(
            problem("WritablePaths", "~/.bashrc")?.description == """
                Searchlight.WritablePaths in its Info.plist names "$HOME/.bashrc", which is neither in a folder \
                named after the extension or its app nor in a folder for documents. Declare \
                $XDG_DATA_HOME/com.example.test or a folder in $XDG_DOCUMENTS_DIR (or DOWNLOAD, MUSIC, PICTURES, VIDEOS) \
                instead.
                """)
    }

    @Test(
        "lets an extension read what users may want to find, including settings",
        arguments: [
            "~/.mozilla", "~/.bashrc", "~/.config/recipes", "~/Documents", "$XDG_DATA_HOME/recipes", "/srv", "/usr",
            "~/Documents/passwords", "~/Books/The secret history", "~/.config/chromium", "~/.local/share/gnote",
            "~/.zotero",
            "$XDG_CONFIG_HOME/mozilla/firefox", "~/snap/firefox/common/.mozilla/firefox", "$XDG_STATE_HOME/recipes",
        ])
    func openForReading(path: String) { #expect(problem("ReadablePaths", path) == nil) }

    @Test("rejects the bundle if the table is invalid")
    func wrongTable() throws {
        #expect(throws: BundleProblem.self) { _ = try access(["x"]) }
    }
}
