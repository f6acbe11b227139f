// SPDX-License-Identifier: Apache-2.0

/// Places that no extension reaches by declaring them: who writes there has other programs started, or told what to do,
/// outside of any sandbox; who reads there has a person's keys. Judged by name when a manifest is read, and by what the
/// names lead to when a policy is made.
///
/// Of what may be written, the home folder's hidden names and the folder of settings are closed as a whole, since shells,
/// editors, desktops and tools that nobody here knows read theirs there; open are folders of an app's own. What is in the
/// data folder is mostly such folders, so there the closed names are listed, after the XDG specifications, systemd's
/// `file-hierarchy`, D-Bus's and the manuals of the desktops.
enum ClosedPlaces {
    /// Why a place is closed, and what to declare instead.
    struct Reason: Hashable {
        let what: String
        let advice: String
        /// The reason, to follow “it” or “which”.
        var sentence: String { "is, holds or lies in what \(what)" }

        static let programs = Reason(
            what: "other programs are started or configured from",
            advice: "a folder of your app's own, such as $XDG_DATA_HOME/org.example.recipes")
        static let secrets = Reason(
            what: "keys, passwords or sessions are kept in", advice: "the folders that hold what is to be found")
        static let everything = Reason(
            what: "everything of a person's is in", advice: "the folders that hold what is to be found")
        static let store = Reason(
            what: "Searchlight keeps everybody's items and extensions in",
            advice: "a folder of your app's own, such as $XDG_DATA_HOME/org.example.recipes")
        static let system = Reason(
            what: "the system is run from",
            advice: "a folder of your app's own, such as $XDG_DATA_HOME/org.example.recipes")
    }

    /// Why a declared path is closed, as far as its name tells; `nil` if it may be declared. What `$XDG_CONFIG_HOME` and
    /// the others mean is known only when a worker is started, so they are taken for what they mostly are.
    static func reason(_ path: DeclaredPath, isWritable: Bool) -> Reason? {
        switch path.base {
        case .home: return reason(belowHome: path.names, isWritable: isWritable)
        case .config, .data, .cache:
            return reason(belowHome: (usual[path.base] ?? []) + path.names, isWritable: isWritable)
        case .documents, .bundle: return nil
        case nil: return reason(belowRoot: path.names, isWritable: isWritable)
        }
    }

    /// Where each base mostly is, below the home folder.
    static let usual: [DeclaredPath.Base?: [String]] = [
        .config: [".config"], .data: [".local", "share"], .cache: [".cache"],
    ]
    /// Where home folders are, and how many names lead from there to one.
    private static let homes: [([String], Int)] = [(["home"], 1), (["var", "home"], 1), (["root"], 0)]

    /// The same for a path below the home folder, or another that stands for a part of it.
    static func reason(belowHome names: [String], isWritable: Bool) -> Reason? {
        guard let first = names.first else { return .everything }
        if touches(names, [".local", "share", "searchlight"]) { return .store }
        if secrets.contains(where: { touches(names, $0) }) { return .secrets }
        guard isWritable else { return nil }
        let isOpen =
            switch first {
            // Whose second name is an app's, as org.example.recipes: settings of no other program are called so.
            case ".config": names.count > 1 && isAppName(names[1])
            case ".cache": names.count > 1 && !isClosedInCache(names[1])
            case ".local": names.count > 2 && isOpen(names[1], names[2])
            case ".var": names.count > 3 && names[1] == "app" && ["data", "cache"].contains(names[3])
            default: !first.hasPrefix(".") && !closedInHome.contains(first)
            }
        return isOpen ? nil : .programs
    }

    private static func isOpen(_ kind: String, _ name: String) -> Bool {
        kind == "state" || kind == "share" && !closedInData.contains(name)
    }

    /// Shells read some files there as they start (`p10k-instant-prompt-USER.zsh`), and tools keep programs there.
    private static func isClosedInCache(_ name: String) -> Bool {
        closedInCache.contains(name) || ["p10k-", "gitstatus"].contains { name.hasPrefix($0) }
    }

    private static func isAppName(_ name: String) -> Bool {
        ExtensionManifest.isIdentifier(name) && name.split(separator: ".").count >= 3
    }

    /// The same for an absolute path, which may be below anybody's home folder.
    static func reason(belowRoot names: [String], isWritable: Bool) -> Reason? {
        for (folder, depth) in homes where names.starts(with: folder) {
            return reason(belowHome: Array(names.dropFirst(folder.count + depth)), isWritable: isWritable)
        }
        if systemSecrets.contains(where: { touches(names, $0) }) { return .secrets }
        guard isWritable else { return nil }
        return system.contains { touches(names, $0) } ? .system : nil
    }

    /// Whether one of two places holds the other.
    private static func touches(_ names: [String], _ others: [String]) -> Bool {
        names.starts(with: others) || others.starts(with: names)
    }

    // MARK: The names

    private static let closedInHome: Set<String> = ["bin", "Applications", "snap", "node_modules"]
    /// In `$XDG_DATA_HOME`.
    private static let closedInData: Set<String> = [
        "applications", "autostart", "bash-completion", "caja", "caja-python", "cargo", "chezmoi", "cinnamon",
        "containers", "dbus-1", "desktop-directories", "direnv", "emacs", "environment.d", "file-manager", "fish",
        "flatpak",
        "gnome-background-properties",
        "gnome-session", "gnome-shell", "gvfs", "icons", "ice-ssh", "JetBrains", "jupyter", "kate", "kded5", "kded6",
        "keyrings", "kglobalaccel", "kio",
        "kio_desktop", "knotifications5", "knotifications6", "konsole", "krunner", "kservices5", "kservices6",
        "kservicetypes5", "kwin", "mate", "mime", "mise", "nautilus", "nautilus-python", "nemo", "nemo-python", "nvim",
        "oh-my-zsh",
        "pipx", "pixi", "plasma", "plasmashell", "pnpm", "polkit-1", "powershell", "pypoetry", "python", "qutebrowser",
        "ruby", "services", "systemd", "themes", "thumbnailers",
        "user-tmpfiles.d", "uv", "vim", "virtualenvs", "wayland-sessions", "xdg-desktop-portal", "xsessions", "zinit",
        "zsh",
    ]
    /// In `$XDG_CACHE_HOME`.
    private static let closedInCache: Set<String> = [
        "bazel", "go-build", "JetBrains", "nvim", "oh-my-zsh", "pip", "pre-commit", "pypoetry", "searchlight", "uv",
        "vim",
        "yarn", "zsh",
    ]
    /// Below the home folder.
    static let secrets: [[String]] = [
        [".ssh"], [".gnupg"], [".password-store"], [".pki"], [".netrc"], [".pgpass"], [".git-credentials"], [".aws"],
        [".npmrc"], [".pypirc"], [".my.cnf"], [".cargo", "credentials"], [".cargo", "credentials.toml"],
        [".config", "containers", "auth.json"], [".config", "glab-cli"], [".config", "hub"],
        [".azure"], [".kube"], [".docker"], [".vault-token"], [".Xauthority"], [".ICEauthority"],
        [".local", "share", "keyrings"], [".local", "share", "kwalletd"], [".local", "share", "password-store"],
        [".local", "share", "gnupg"], [".config", "gcloud"], [".config", "gh"], [".config", "git", "credentials"],
        [".config", "rclone"], [".config", "sops"], [".config", "age"], [".config", "keepassxc"],
        [".config", "Bitwarden"],
        [".config", "1Password"], [".config", "op"],
    ]
    /// Where programs keep sessions beside what a person may well want to find.
    private static let sessions: [[String]] = [
        [".mozilla"], [".thunderbird"], [".config", "google-chrome"], [".config", "chromium"],
        [".config", "BraveSoftware"], [".config", "microsoft-edge"], [".config", "vivaldi"], [".config", "opera"],
        [".var", "app"], ["snap"],
    ]
    private static let systemSecrets: [[String]] = [
        ["etc", "shadow"], ["etc", "gshadow"], ["etc", "ssl", "private"], ["etc", "ssh"],
        ["etc", "NetworkManager", "system-connections"], ["run", "user"], ["run", "secrets"], ["run", "credentials"],
    ]
    private static let system: [[String]] = [
        ["bin"], ["boot"], ["dev"], ["etc"], ["lib"], ["lib32"], ["lib64"], ["nix"], ["opt"], ["run", "dbus"],
        ["run", "systemd"], ["sbin"], ["snap"], ["sys"], ["usr"], ["var", "lib"], ["var", "run"], ["var", "spool"],
    ]

    /// Whether a path that may be read also leads to a program's passwords or sessions.
    static func holdsSessions(_ path: DeclaredPath) -> Bool {
        let names = path.base.flatMap { usual[$0] }.map { $0 + path.names } ?? path.names
        guard path.base == .home || path.base.flatMap({ usual[$0] }) != nil else { return false }
        return sessions.contains { touches(names, $0) }
    }
}
