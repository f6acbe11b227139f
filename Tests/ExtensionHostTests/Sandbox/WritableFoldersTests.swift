// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SystemSupport
import TestSupport
import Testing

/// The paths that `WritablePaths` may contain. They are determined by a rule instead of a list, so
/// the names below are examples. An oracle checks random names.
@Suite("Writable folders of an extension")
struct WritableFoldersTests {
    private static let bundle = "org.example.Notes.search"
    private static let desktopEntry = "org.example.Notes.desktop"
    private let folder: TemporaryFolder
    private let home: String

    init() throws {
        folder = try TemporaryFolder()
        // Links in its own path are irrelevant here.
        home = URL(filePath: folder.path).resolvingSymlinksInPath().path + "/home"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    }

    private func refusal(
        _ path: String, _ variables: [String: String] = [:], bundle: String = WritableFoldersTests.bundle,
        desktopEntry: String? = WritableFoldersTests.desktopEntry, mounts: String? = "", names: Int? = nil
    ) -> String? {
        WritableFolders.refusal(
            of: path, bundle: bundle, desktopEntry: desktopEntry,
            environment: ["HOME": home].merging(variables) { $1 }, mounts: mounts.map { MountPoints($0) }, names: names)
    }

    private func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: home + "/" + path, withIntermediateDirectories: true)
    }

    private func link(_ path: String, to target: String) throws {
        try make(URL(filePath: "/" + path).deletingLastPathComponent().path)
        try FileManager.default.createSymbolicLink(atPath: home + "/" + path, withDestinationPath: target)
    }

    private func name(_ text: String) throws {
        try make(".config")
        try Data(text.utf8).write(to: URL(filePath: home + "/.config/user-dirs.dirs"))
    }

    // MARK: Names

    @Test(
        "are its own folders and documents",
        arguments: [
            "~/Documents", "~/Documents/Recipes", "~/Documents/Recipes/book.txt", "~/Downloads", "~/Downloads/x",
            "~/Music", "~/Music/x/y", "~/Pictures", "~/Pictures/2026/01", "~/Videos", "~/Videos/x.mp4",
            "$XDG_DOCUMENTS_DIR", "$XDG_DOCUMENTS_DIR/a b", "$XDG_DOWNLOAD_DIR", "$XDG_MUSIC_DIR/x",
            "$XDG_PICTURES_DIR/x", "$XDG_VIDEOS_DIR/x", "$HOME/Documents/Ünïcödé",
            "$XDG_DATA_HOME/org.example.Notes.search", "$XDG_DATA_HOME/org.example.Notes/pages",
            "~/.local/share/org.example.Notes.search", "~/.local/share/org.example.Notes",
            "$XDG_STATE_HOME/org.example.Notes.search", "~/.local/state/org.example.Notes/x",
            "$XDG_CACHE_HOME/org.example.Notes.search", "~/.cache/org.example.Notes/x/y",
            "$XDG_CONFIG_HOME/org.example.Notes.search", "~/.config/org.example.Notes.search/settings.ini",
            "~/.var/app/org.example.Notes/data", "~/.var/app/org.example.Notes/data/pages",
            "~/.var/app/org.example.Notes/cache", "~/.var/app/org.example.Notes.search/cache/x",
        ])
    func open(path: String) { #expect(refusal(path) == nil) }

    /// Examples of paths that the rule denies. The code contains none of these names.
    static let closed: [String] = [
        // Files that shells, editors and tools run when they start.
        "~/.bashrc", "~/.bash_profile", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.inputrc",
        "~/.vimrc", "~/.vim", "~/.emacs", "~/.emacs.d/init.el", "~/.tmux.conf", "~/.screenrc", "~/.gitconfig",
        "~/.gdbinit", "~/.lldbinit", "~/.Rprofile", "~/.pythonrc", "~/.irbrc", "~/.pryrc", "~/.psqlrc", "~/.xinitrc",
        "~/.xprofile", "~/.Xresources", "~/.xsession", "~/.ssh/rc", "~/.ssh/authorized_keys", "~/.ssh/config",
        "~/.gnupg/gpg.conf", "~/.config/fish/conf.d/x.fish", "~/.config/nvim/init.lua", "~/.config/git/config",
        "~/.config/starship.toml", "~/.config/direnv", "~/.config/htop", "~/.config/powershell", "~/.config/nushell",
        "~/.config/environment.d/x.conf", "~/.config/autostart/x.desktop", "~/.config/systemd/user",
        "~/.config/Code/User/settings.json", "~/.config/plasma-workspace/env", "~/.config/hypr",
        "~/.config/sway/config", "~/.config/i3/config", "~/.config/mpv/scripts", "~/.config/user-dirs.dirs",
        "~/.config/mimeapps.list", "~/.config",
        // Desktops and services.
        "~/.local/share/applications", "~/.local/share/applications/x.desktop", "~/.local/share/dbus-1/services",
        "~/.local/share/systemd/user", "~/.local/share/kservices5", "~/.local/share/kservices6",
        "~/.local/share/plasma", "~/.local/share/kwin/scripts", "~/.local/share/gnome-shell/extensions",
        "~/.local/share/nautilus/scripts", "~/.local/share/nautilus-python/extensions",
        "~/.local/share/nemo/actions", "~/.local/share/caja-python", "~/.local/share/gedit/plugins",
        "~/.local/share/pluma/plugins", "~/.local/share/xed/plugins", "~/.local/share/krita/pykrita",
        "~/.local/share/thumbnailers", "~/.local/share/icons", "~/.local/share/themes",
        "~/.local/share/mime/packages", "~/.local/share/xdg-desktop-portal", "~/.local/share/flatpak",
        "~/.local/share/flatpak/overrides/global", "~/.local/share/containers", "~/.local/share/user-tmpfiles.d",
        "~/.local/share/polkit-1", "~/.local/share/cinnamon", "~/.local/share/rhythmbox/plugins",
        "~/.local/share/totem/plugins", "~/.local/share/evolution/modules", "~/.local/share/gimp/plug-ins",
        "~/.config/GIMP/2.10/plug-ins", "~/.config/blender/4.2/scripts/addons", "~/.local/share/inkscape",
        "~/.config/inkscape/extensions", "~/.config/libreoffice/4/user/Scripts",
        // Toolchains.
        "~/.local/share/pnpm", "~/.local/share/pnpm/global", "~/.local/share/cargo/bin", "~/.local/share/rustup",
        "~/.local/share/mise", "~/.local/share/fnm", "~/.local/share/nvm", "~/.local/share/rtx",
        "~/.local/share/asdf", "~/.local/share/uv/tools", "~/.local/share/pipx", "~/.local/share/virtualenv",
        "~/.local/share/jupyter/kernels", "~/.local/share/nvim/site/pack", "~/.local/share/nvim/mason/bin",
        "~/.local/share/JetBrains/Toolbox/apps", "~/.local/share/fish/vendor_conf.d", "~/.local/share/zinit",
        "~/.local/share/zsh", "~/.local/share/bash-completion/completions", "~/.local/share/sheldon",
        "~/.local/share/oh-my-zsh", "~/.local/share/gem/ruby", "~/.local/share/coursier/bin", "~/.local/share/bob",
        "~/.local/share/juliaup", "~/.local/share/go", "~/.local/share/swiftly/bin", "~/.local/share/devbox",
        "~/.local/share/nix", "~/.local/share/dotnet/tools", "~/.local/state/nix/profiles",
        "~/.local/state/wireplumber", "~/.local/state/lesshst", "~/.local/lib/python3.11/site-packages",
        "~/.local/bin", "~/.local/bin/x", "~/.local", "~/.local/share", "~/.local/state", "~/.cargo/bin",
        "~/.rustup/toolchains", "~/.nvm", "~/.pyenv/shims", "~/.rbenv", "~/.sdkman", "~/.bun/bin", "~/.deno/bin",
        "~/.volta", "~/.npm-global/bin", "~/.npm", "~/.yarn", "~/.gem", "~/.m2", "~/.gradle/init.d", "~/.ghcup/bin",
        "~/.opam", "~/.stack", "~/.cabal/bin", "~/.dotnet/tools", "~/.nix-profile", "~/.krew/bin", "~/.fzf",
        "~/.oh-my-zsh", "~/.asdf", "~/.vscode/extensions", "~/.vscode-server", "~/.cursor", "~/go/bin", "~/go",
        "~/bin", "~/bin/x", "~/node_modules/.bin", "~/node_modules", "~/miniconda3", "~/miniconda3/bin",
        "~/anaconda3", "~/perl5/bin", "~/venv/bin", "~/src/project/.git/hooks", "~/src", "~/Projects/x/Makefile",
        "~/Projects", "~/projects/x", "~/code", "~/dev", "~/work", "~/dotfiles", "~/android-sdk", "~/flutter/bin",
        "~/esp", "~/Android/Sdk", "~/sdk",
        // Caches from which programs are executed.
        "~/.cache", "~/.cache/p10k-instant-prompt-ann.zsh", "~/.cache/p10k-dump-ann.zsh", "~/.cache/gitstatus",
        "~/.cache/pypoetry", "~/.cache/uv", "~/.cache/pip", "~/.cache/pre-commit", "~/.cache/bazel",
        "~/.cache/go-build", "~/.cache/nvim", "~/.cache/oh-my-zsh", "~/.cache/zsh", "~/.cache/starship",
        "~/.cache/ccache", "~/.cache/electron", "~/.cache/ms-playwright", "~/.cache/JetBrains", "~/.cache/yarn",
        "~/.cache/node/corepack", "~/.cache/searchlight", "~/.cache/deno", "~/.cache/mesa_shader_cache",
        "~/.cache/recipes",
        // Folders that belong to games and other programs.
        "~/.local/share/Steam", "~/.local/share/lutris", "~/.local/share/umu", "~/.local/share/bottles",
        "~/.local/share/PrismLauncher", "~/.steam", "~/.wine/drive_c", "~/.minecraft", "~/Games", "~/Games/x",
        "~/SteamLibrary", "~/SteamLibrary/steamapps", "~/Applications", "~/Applications/x.AppImage", "~/AppImages",
        "~/snap", "~/snap/firefox/common", "~/.var/app/org.example.Other/data", "~/.var/app/org.example.Notes",
        "~/.var/app/org.example.Notes/config", "~/.var/app/org.example.Notes/.local/share", "~/.var/app", "~/.var",
        "~/.mozilla/native-messaging-hosts", "~/.config/chromium/NativeMessagingHosts", "~/.thunderbird",
        "~/.local/share/searchlight", "~/.local/share/searchlight/extensions/x.searchext",
        "$XDG_DATA_HOME/searchlight/store", "$XDG_CONFIG_HOME/searchlight", "$XDG_DATA_HOME/org.example.Other",
        "$XDG_DATA_HOME/recipes", "$XDG_CONFIG_HOME/org.example.Other", "$XDG_CACHE_HOME/org.example.Other",
        "$XDG_STATE_HOME/org.example.Other", "$XDG_CONFIG_HOME/org.example.Notes", "~/.config/org.example.Notes/x",
        "$XDG_CONFIG_HOME/org.example.Notes.search2", "~/.local/share/org.example.Notes.other",
        // The user's other standard folders, and hidden paths in Documents.
        "~/Desktop", "~/Desktop/x.desktop", "~/Templates", "~/Templates/x", "~/Public", "~/Recipes", "~/marks",
        "~/documents", "~/DOCUMENTS/x", "~/Documents/.git/hooks", "~/Documents/x/.git", "~/Documents/.envrc",
        "~/Documents/x/.vscode/tasks.json", "~/Documents/.obsidian", "$XDG_DOCUMENTS_DIR/.hidden",
        "$XDG_PICTURES_DIR/x/.y/z", "~/Downloads/.direnv", "$XDG_DATA_HOME/org.example.Notes.search/.git/hooks",
        "~/.var/app/org.example.Notes/data/.x", "~/.Documents", "~/Documents2", "~/Documents /x",
        // Outside the home folder.
        "/etc", "/etc/profile.d/x.sh", "/usr/local/bin", "/opt/x", "/var/lib/x", "/var/spool/cron", "/tmp", "/tmp/x",
        "/dev/shm/x", "/run/user/1000", "/srv/x", "/mnt", "/mnt/disk/x", "/media/ann/disk",
        "/run/media/ann/disk/SteamLibrary", "/boot", "/nix", "/snap/x", "/home/ann", "/home/ann/.bashrc",
        "/home/ann/go/bin", "/home/ann/Projects", "/home", "/root/.ssh", "/var/home/ann/bin", "/data/x",
        "/proc/self/cwd", "/sys", "/home/linuxbrew/.linuxbrew/bin",
    ]

    @Test(
        "exclude all folders from which programs are started or configured, known and unknown",
        arguments: closed)
    func refused(path: String) { #expect(refusal(path) != nil) }

    @Test("have the required number of examples")
    func enough() { #expect(Set(Self.closed).count >= 150) }

    @Test(
        "exclude every folder that a bundle's name claims",
        arguments: [
            "nvim", "fish.x", "user-tmpfiles.d", "environment.d", "recently-used.xbel", "python3.11",
            "p10k-instant-prompt-ann.b.zsh", "gitstatus.x.y", "x.y.z", "9front.a.b", "a1.b.c", "com..x",
            ".com.example", "com.example", "systemd",
        ])
    func names(name: String) {
        let isApp = name == "gitstatus.x.y"
        for path in ["$XDG_DATA_HOME/", "$XDG_CONFIG_HOME/", "$XDG_CACHE_HOME/", "$XDG_STATE_HOME/", "~/.local/share/"]
        {
            #expect((refusal(path + name, bundle: name, desktopEntry: nil) == nil) == isApp, "\(path)\(name)")
            let app = refusal(path + name, bundle: name + ".search", desktopEntry: name + ".desktop")
            #expect((app == nil) == (isApp && !path.contains("CONFIG")))
        }
        #expect(refusal("$XDG_DATA_HOME/org.example.Notes", desktopEntry: "org.example.Notes") != nil)
    }

    @Test(
        "exclude folders of an app that the bundle is not named after, with any entry in its manifest",
        arguments: [
            ("com.example.rev.entry", "com.valvesoftware.Steam"),
            ("com.valvesoftware.SteamX", "com.valvesoftware.Steam"),
            ("com.valvesoftware", "com.valvesoftware.Steam"), ("org.example.Notes", "org.example.Notes.search"),
            ("com.valvesoftware.steam.x", "com.valvesoftware.Steam"), ("org.mozilla.x", "org.mozilla.firefox"),
            ("com.valvesoftware.\u{17F}team.x", "com.valvesoftware.Steam"),
        ])
    func strangers(bundle: String, app: String) {
        for path in [
            "~/.var/app/\(app)/data", "~/.var/app/\(app)/cache", "$XDG_DATA_HOME/\(app)", "$XDG_CONFIG_HOME/\(app)",
            "$XDG_STATE_HOME/\(app)/x", "$XDG_CACHE_HOME/\(app)", "~/.local/share/\(app)/x",
        ] {
            #expect(refusal(path, bundle: bundle, desktopEntry: app + ".desktop") != nil, "\(path)")
        }
    }

    @Test("exclude the app's settings under the name of another folder that the variables merge with it")
    func oneFolderTwice() throws {
        for (data, path) in [(".config", "org.example.Notes"), (".config/org.example.Notes", "org.example.Notes/x")] {
            let variables = ["XDG_DATA_HOME": home + "/" + data]
            #expect(refusal("$XDG_DATA_HOME/" + path, variables) != nil, "\(data)")
        }
        let same = ["XDG_DATA_HOME": home + "/all", "XDG_CONFIG_HOME": home + "/all"]
        #expect(refusal("$XDG_DATA_HOME/org.example.Notes", same) != nil)
        #expect(refusal("$XDG_DATA_HOME/org.example.Notes.search", same) == nil)
    }

    // MARK: Variables and folders of the desktop

    @Test("follow user-dirs.dirs, but not to the home folder, hidden folders, or shared folders")
    func userFolders() throws {
        try make("Papiere")
        for (value, isOpen) in [
            ("$HOME/Papiere", true), ("$HOME/a/b/c", true), ("$HOME", false), ("$HOME/", false),
            ("$HOME/.local/bin", false),
            ("$HOME/.config/autostart", false), ("$HOME/.hidden/x", false), ("$HOME/Desktop", false),
            ("$HOME/Desktop/x", false),
            ("$HOME/Templates", false), ("/etc", false), ("/", true), ("/usr/local/bin", false), ("/tmp", false),
            ("/home", false),
            ("$HOME/..", false), ("$HOME/.config", false), ("/mnt/disk/Documents", true), ("/media/ann/disk/d", true),
            ("/run/media/ann/disk/d", true), ("/media/ann", false), ("/run/media/ann/disk", true), ("/mnt", false),
            ("/mnt/disk/.config", false),
        ] as [(String, Bool)] {
            try name("XDG_DOCUMENTS_DIR=\"\(value)\"\n")
            #expect((refusal("$XDG_DOCUMENTS_DIR") == nil) == isOpen || value == "$HOME/..", "\(value)")
            #expect((refusal("$XDG_DOCUMENTS_DIR/x") == nil) == isOpen || value == "$HOME/..", "\(value)/x")
        }
        try name("XDG_DOCUMENTS_DIR=\"$HOME/Papiere\"\nXDG_DESKTOP_DIR=\"$HOME/Music/Desktop\"\n")
        #expect(refusal("~/Documents/x") != nil, "it is no folder for documents here")
        #expect(refusal("~/Music") != nil && refusal("~/Music/Desktop/x") != nil && refusal("~/Music/y") == nil)
    }

    @Test("follow variables of the desktop, but not to invalid paths")
    func variables() throws {
        for (value, isOpen) in [
            (home, false), (home + "/", false), ("/", true), ("/etc", false), ("/usr/share", false),
            (home + "/.local/share/systemd/user", false), (home + "/.config/autostart", false), (home + "/.ssh", false),
            (home + "/.bashrc.d", false), (home + "/data", true), (home + "/.local/share", true),
            (home + "/.config", true),
            (URL(filePath: home).deletingLastPathComponent().path, false), ("relative", true), ("", true),
            ("/mnt/disk/data", true),
        ] as [(String, Bool)] {
            #expect(
                (refusal("$XDG_DATA_HOME/org.example.Notes.search", ["XDG_DATA_HOME": value]) == nil) == isOpen,
                "\(value)")
        }
        #expect(refusal("~/.local/share/org.example.Notes.search", ["XDG_DATA_HOME": home + "/data"]) != nil)
    }

    @Test("report that a folder of a variable outside the home folder is not the user's alone")
    func foreignBase() throws {
        let base = URL(filePath: home).deletingLastPathComponent().path + "/shared"
        try FileManager.default.createDirectory(
            atPath: base, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        let own = refusal("$XDG_DATA_HOME/org.example.Notes.search", ["XDG_DATA_HOME": base])
        #expect(own?.contains("is in \(base), outside of the home folder") == true, "\(own ?? "")")
        let other = refusal("$XDG_DATA_HOME/org.example.Other", ["XDG_DATA_HOME": base])
        #expect(other?.contains("neither in a folder named after the extension") == true, "\(other ?? "")")
    }

    @Test(
        "exclude folders of PATH and similar variables",
        arguments: [
            "PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "NODE_PATH", "GOPATH", "CARGO_HOME", "NVM_DIR", "PNPM_HOME",
            "JAVA_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS", "GOROOT", "R_LIBS_PATH",
        ])
    func searched(variable: String) {
        let value = ["/usr/bin", home + "/Documents/tools/bin", home + "/Pictures/", "", "relative"].joined(
            separator: ":")
        let variables = [variable: value]
        for path in [
            "~/Documents", "~/Documents/tools", "~/Documents/tools/bin", "~/Documents/TOOLS/Bin/x", "~/Pictures/x",
        ] {
            #expect(refusal(path, variables)?.contains(variable) == true, "\(path)")
        }
        #expect(refusal("~/Documents/Recipes", variables) == nil && refusal("~/Documents/tool", variables) == nil)
        let shared = [variable: home + "/.local/share:" + home]
        #expect(
            refusal("~/.local/share/org.example.Notes.search", shared) == nil, "the folder of all apps' is no app's")
        #expect(refusal("~/Documents", ["PWD": home + "/Documents/x", "TMPDIR": home + "/Documents"]) == nil)
    }

    // MARK: Links and mounts

    @Test("include a path's target as well as its name")
    func links() throws {
        for name in ["Documents", "Pictures/2026", ".local/share", ".config/autostart", "go/bin"] { try make(name) }
        for (path, target) in [
            ("Documents/a", "../.config/autostart"), ("Documents/b", "../go"), ("Documents/c", "b/bin"),
            ("Documents/d", home),
            ("Documents/e", "/"), ("Documents/f", "../Pictures/2026"), ("Documents/g", "../.not/there/yet"),
            ("Documents/h", "h"),
            (".local/share/org.example.Notes.search", "../../go"), ("Music", "tunes"), ("Videos", "Pictures"),
            ("Documents/i", "../.local/share/org.example.Notes"),
        ] { try link(path, to: target) }
        for path in [
            "Documents/a", "Documents/a/x.desktop", "Documents/b", "Documents/b/bin", "Documents/c/x", "Documents/d",
            "Documents/d/Documents/a", "Documents/e", "Documents/e/etc", "Documents/g", "Documents/g/x",
            ".local/share/org.example.Notes.search", ".local/share/org.example.Notes.search/bin",
        ] { #expect(refusal("~/" + path) != nil, "\(path)") }
        for path in [
            "Documents/f", "Documents/f/x", "Documents/i", "Documents/new/x", "Videos/x", "Documents/d/Pictures/x",
        ] {
            #expect(refusal("~/" + path) == nil, "\(path)")
        }
        // By linking a documents folder to another path, a user declares that path as documents.
        #expect(refusal("~/Music/x") == nil && refusal("$XDG_MUSIC_DIR") == nil)
    }

    @Test("exclude targets of links among documents that there was no time to read")
    func tooManyFiles() throws {
        for number in 0..<600 { try make(".local/share/x/\(number)") }
        try make("Documents/dot")
        try link(".config/systemd/user/x.service", to: "../../../Documents/dot/x.service")
        #expect(refusal("~/Documents/dot") != nil && refusal("~/Documents/notes") == nil)
        for most in [0, 10, 500] {
            let reason = try #require(refusal("~/Documents/notes", names: most), "\(most)")
            #expect(reason.contains("too many files"), "\(reason)")
            // The extension's own folders contain its name, so no link leads there by accident.
            #expect(refusal("$XDG_DATA_HOME/org.example.Notes.search", names: most) == nil)
        }
        // A new listing equals the earlier one if nothing has changed.
        #expect(refusal("~/Documents/notes") == nil)
        try link(".local/share/x/7/late", to: home + "/Documents/notes")
        #expect(refusal("~/Documents/notes") != nil)
    }

    @Test("exclude targets of links from deep below a folder with the name of a code folder")
    func deepLinks() throws {
        try make("Documents/code")
        for (path, isSeen) in [
            (".config/systemd/user/default.target.wants/a/x.service", true), (".local/share/x/y/z/scripts/link", false),
            (".config/fish/conf.d/a/b/c/x", true), (".oh-my-zsh/custom/functions/mine/x", true),
            (".x/bin/a/b/tool", true),
            ("bin/tool", true), ("Other/bin/tool", false), (".local/share/Trash/files/x", false),
        ] {
            try link(path, to: home + "/Documents/code/file")
            #expect((refusal("~/Documents/code") != nil) == isSeen, "\(path)")
            try #require(unlink(home + "/" + path) == 0)
        }
    }

    @Test("exclude targets of links, with any variable for caches")
    func linksBesideCaches() throws {
        try make("Documents/dot")
        try link(".config/autostart/x.desktop", to: home + "/Documents/dot/x.desktop")
        for cache in [home, "/", home + "/.config", home + "/.config/autostart", home + "/.cache"] {
            #expect(refusal("~/Documents/dot", ["XDG_CACHE_HOME": cache]) != nil, "\(cache)")
        }
    }

    @Test("exclude documents without known mounts, but include own folders")
    func unknownMounts() throws {
        #expect(refusal("~/Documents/x", mounts: nil)?.contains("mountinfo") == true)
        #expect(refusal("$XDG_PICTURES_DIR", mounts: nil) != nil)
        #expect(refusal("$XDG_DATA_HOME/org.example.Notes.search/x", mounts: nil) == nil)
    }

    @Test("exclude folders in which shells search programs, by their files, or that shells read")
    func shells() throws {
        for (file, line, closed, open) in [
            (".profile", "PATH=\"$HOME/Documents/tools/bin:$PATH\"", "Documents/tools", "Documents/tool"),
            (".bashrc", "[ -f ~/Documents/dot/rc ] && . ~/Documents/dot/rc", "Documents/dot", "Documents/x"),
            (".zshrc", "path+=(~/Pictures/bin '/x')", "Pictures/bin/x", "Pictures/y"),
            (".zshenv", "source \"${HOME}/Documents/My Tools/env\"", "Documents/My Tools", "Documents/Tools"),
            (".config/environment.d/p.conf", "PATH=\(home)/Documents/b:/usr/bin", "Documents/b", "Documents/c"),
            (".config/fish/config.fish", "fish_add_path ~/Documents/f", "Documents/f", "Documents/g"),
            (".profile", "PATH=~/Documents:$PATH", "Documents/any", "Pictures/any"),
        ] {
            try make(URL(filePath: "/" + file).deletingLastPathComponent().path)
            try Data("# a line\n\(line)\n".utf8).write(to: URL(filePath: home + "/" + file))
            #expect(refusal("~/" + closed) != nil && refusal("~/" + open) == nil, "\(line)")
            try #require(unlink(home + "/" + file) == 0)
            #expect(refusal("~/" + closed) == nil, "\(line)")
        }
        try Data("alias n='cd ~/Documents/notes'; CDPATH=~/Documents\n".utf8)
            .write(to: URL(filePath: home + "/.bashrc"))
        #expect(refusal("~/Documents/notes") == nil, "going somewhere runs nothing there")
    }

    @Test("follow a limited number of links, and exclude longer chains")
    func towers() throws {
        try make("Documents/marks")
        for times in [150, 6, 2] {
            for number in 0..<25 {
                let target = Array(repeating: "l\(number + 1)", count: times).joined(separator: "/../")
                try link("Documents/marks/l\(number)", to: target)
            }
            #expect(refusal("~/Documents/marks/l0")?.contains("too many links") == true)
            #expect(refusal("~/Documents/marks/l0/x/y") != nil && refusal("~/Documents/marks/other") == nil)
            for number in 0..<25 { try #require(unlink(home + "/Documents/marks/l\(number)") == 0) }
        }
    }

    @Test("exclude paths with two dots, with any composition of letters")
    func accents() throws {
        for path in [
            "$XDG_DOCUMENTS_DIR/../\u{301}x", "$XDG_DOCUMENTS_DIR/a/../\u{301}/b", "~/Documents/../\u{200D}.ssh",
            "$XDG_DOCUMENTS_DIR/\u{301}/.git", "$XDG_DOCUMENTS_DIR/x/.\u{301}git",
        ] {
            #expect(refusal(path) != nil, "\(path)")
        }
        #expect(refusal("$XDG_DOCUMENTS_DIR//a\u{301}") == nil)
    }

    @Test("exclude a file at the path of an own folder")
    func files() throws {
        try make(".config")
        try Data().write(to: URL(filePath: home + "/.config/org.example.Notes.search"))
        #expect(refusal("$XDG_CONFIG_HOME/org.example.Notes.search") != nil)
        #expect(refusal("$XDG_DATA_HOME/org.example.Notes.search") == nil)
    }

    @Test("exclude a folder that is mounted twice, but not a disk")
    func mounts() throws {
        let root = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        func mounted(_ device: String, _ part: String, _ name: String) -> String {
            root + "40 22 \(device) \(part) \(home)/\(name) rw,relatime shared:1 - ext4 x rw\n"
        }
        for (mount, isOpen) in [
            (mounted("8:2", "/", "Documents/disk"), true), (mounted("8:1", "/", "Documents/disk"), false),
            (mounted("8:1", "/etc", "Documents/disk"), false),
            (mounted("8:1", home + "/.config", "Documents/disk"), false),
            (mounted("8:1", "/data/documents", "Documents"), true), (mounted("8:1", home + "/bin", "Documents"), false),
            (mounted("8:1", home, "Documents"), false), (mounted("8:1", "/etc", "Pictures"), true),
            (mounted("8:1", "/etc", "Documents/disk\\040x"), true), (root, true), ("", true),
            ("garbage\n\n1 2 3\n", true),
            (
                root.replacing("8:1 /", with: "0:30 /@") + "41 22 0:30 /@home \(home)/Documents/disk rw - btrfs x rw\n",
                true
            ),
        ] as [(String, Bool)] {
            #expect((refusal("~/Documents/disk/x", mounts: mount) == nil) == isOpen, "\(mount)")
        }
        // The parent of such a folder is denied too, like its content.
        #expect(refusal("~/Documents", mounts: mounted("8:1", "/etc", "Documents/a/b")) != nil)
        #expect(refusal("~/Documents/a/b", mounts: mounted("8:1", "/etc", "Documents/a\\040b")) == nil)
        #expect(refusal("~/Documents/a b", mounts: mounted("8:1", "/etc", "Documents/a\\040b")) != nil)
    }

    // MARK: The rule, at random

    /// The rule in another form: patterns for the existing path below the home folder.
    private func mayBeWritten(_ path: String) -> Bool {
        let own = "org\\.example\\.Notes\\.search"
        let name = "(org\\.example\\.Notes\\.search|org\\.example\\.Notes)"
        let below = "(/[^./][^/]*)*"
        let patterns = [
            "(Documents|Downloads|Music|Pictures|Videos)" + below,
            "\\.config/" + own + below,
            "(\\.cache|\\.local/share|\\.local/state)/" + name + below,
            "\\.var/app/" + name + "/(data|cache)" + below,
        ]
        return patterns.contains { path.range(of: "^" + $0 + "$", options: .regularExpression) != nil }
    }

    @Test("follow the rule for any names and links", arguments: 0..<4)
    func atRandom(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let names = [
            "Documents", "Downloads", "Music", "Pictures", "Videos", "Desktop", ".config", ".local", "share",
            "state", ".cache", ".var", "app", "data", "cache", "org.example.Notes.search", "org.example.Notes",
            "org.example.Other", "bin", "x", ".git", ".x", "nvim",
        ]
        func path(_ most: Int) -> String {
            var parts: [String] = []
            // In many cases, the path begins with an allowed folder.
            switch Int.random(in: 0..<6, using: &random) {
            case 0: parts = [".local", Bool.random(using: &random) ? "share" : "state", "org.example.Notes.search"]
            case 1: parts = ["Documents"]
            case 2: parts = [".var", "app", "org.example.Notes", "data"]
            default: break
            }
            for _ in 0..<Int.random(in: 1...most, using: &random) {
                parts.append(names.randomElement(using: &random) ?? "x")
            }
            return parts.joined(separator: "/")
        }
        var open = 0
        for _ in 0..<10 {
            let tree = try TemporaryFolder()
            let home = URL(filePath: tree.path).resolvingSymlinksInPath().path
            for _ in 0..<6 {
                try? FileManager.default.createDirectory(
                    atPath: home + "/" + path(3), withIntermediateDirectories: true)
            }
            // Links in allowed folders. Another test shows that links in other folders deny access
            // to their targets.
            for _ in 0..<4 {
                let place = home + "/Documents/" + (names.randomElement(using: &random) ?? "x")
                try? FileManager.default.createDirectory(atPath: home + "/Documents", withIntermediateDirectories: true)
                try? FileManager.default.createSymbolicLink(
                    atPath: place,
                    withDestinationPath: Bool.random(using: &random) ? home + "/" + path(2) : "../" + path(2))
            }
            for _ in 0..<50 {
                let path = path(4)
                var parts = path.split(separator: "/").map(String.init)
                var rest: [String] = []
                // The existing part of the path, without links. A dangling link is checked
                // separately.
                while !parts.isEmpty, access(home + "/" + parts.joined(separator: "/"), F_OK) != 0 {
                    var status = stat()
                    if lstat(home + "/" + parts.joined(separator: "/"), &status) == 0 { break }
                    rest.insert(parts.removeLast(), at: 0)
                }
                guard let found = realpath(home + "/" + parts.joined(separator: "/"), nil) else { continue }
                defer { free(found) }
                let real = ([String(cString: found)] + rest).joined(separator: "/")
                // A link from one of the extension's own folders may have no other target.
                let expected =
                    mayBeWritten(path) && real.hasPrefix(home + "/")
                    && mayBeWritten(String(real.dropFirst(home.count + 1)))
                let refusal = WritableFolders.refusal(
                    of: "~/" + path, bundle: Self.bundle, desktopEntry: Self.desktopEntry, environment: ["HOME": home],
                    mounts: MountPoints(""))
                #expect((refusal == nil) == expected, "\(path), which is \(real): \(refusal ?? "open")")
                if refusal == nil { open += 1 }
            }
        }
        #expect(open > 20)
    }
}
