// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The deny list of paths that no extension may declare for reading, because they contain keys,
/// passwords or sessions. It also contains the reasons for which ``WritableNames`` denies writing.
/// Names are checked when the manifest is read; link targets are checked when a sandbox policy is
/// created.
enum DenyList {
    /// The reason why a path is denied, and what to declare instead.
    struct Reason: Hashable {
        /// The reason, to follow “it” or “which”.
        let sentence: String
        let advice: String

        static let secrets = Reason(
            sentence: "is, contains or is in a store of keys, passwords or sessions",
            advice: "the folders with the searchable files")
        static let everything = Reason(
            sentence: "is, contains or is in the folder with all of the user's files",
            advice: "the folders with the searchable files")
        static let store = Reason(
            sentence: "is, contains or is in a folder of Searchlight with the items or extensions of all apps",
            advice: "the folders with the searchable files")

        static let unfollowed = Reason(
            sentence: "leads through too many links or names, or has a name that is not text",
            advice: "its target folder")

        // Reasons to deny writing.
        static let programs = Reason(
            sentence: "is, contains or is in a folder from which other programs are started or configured",
            advice: documents)
        static let started = Reason(
            sentence:
                "is, contains or is in the desktop, the templates or the public folder, which start programs, "
                + "fill menus or are shared",
            advice: documents)
        static func elsewhere(_ names: AppNames) -> Reason {
            let own = names.names.first.map { "$XDG_DATA_HOME/\($0) or " } ?? ""
            return Reason(
                sentence: "is neither in a folder named after the extension or its app nor in a folder for documents",
                advice: own + documents)
        }
        static func foreign(_ base: String) -> Reason {
            Reason(
                sentence:
                    "is in \(base), outside of the home folder, which belongs to root or is writable by others",
                advice: "a folder below the home folder")
        }
        static func hidden(_ name: String) -> Reason {
            Reason(
                sentence: "leads through the hidden name \(name), which programs use for code and configuration",
                advice: "a folder that is not hidden")
        }
        static func named(by variable: String) -> Reason {
            Reason(
                sentence:
                    "is, contains or is in a program folder of the variable \(variable)",
                advice: "another folder")
        }
        static func mounted(_ source: String) -> Reason {
            Reason(
                sentence: "is, contains or is in a folder that is mounted a second time, from \(source)",
                advice: "that folder, if writing to it is allowed")
        }
        static let unknownMounts = Reason(
            sentence:
                "may be in a folder that is mounted a second time, because the mounts cannot be read "
                + "(/proc/self/mountinfo)",
            advice: "a folder named after the extension")
        static func unseen(_ place: String) -> Reason {
            Reason(
                sentence:
                    "may be the target of a link in the home folder's settings, because there are too many files and folders "
                    + "to check all of them (up to \(place))",
                advice: "a folder named after the extension")
        }
        private static let documents = "a folder in $XDG_DOCUMENTS_DIR (or DOWNLOAD, MUSIC, PICTURES, VIDEOS)"
    }

    /// Returns the reason why a declared path may not be read, based on its names; `nil` if it may
    /// be declared. The real paths of `$XDG_CONFIG_HOME` and the other bases are unknown until a
    /// worker starts, so this uses their default paths.
    static func reason(_ path: DeclaredPath) -> Reason? {
        switch path.base {
        case .home: reason(belowHome: path.names)
        case .config, .data, .cache, .state: reason(belowHome: (usual[path.base] ?? []) + path.names)
        case .documents, .download, .music, .pictures, .videos, .bundle: nil
        case nil: reason(belowRoot: path.names)
        }
    }

    /// The default path of each base, below the home folder.
    static let usual: [DeclaredPath.Base?: [String]] = [
        .config: [".config"], .data: [".local", "share"], .cache: [".cache"],
        .state: [".local", "state"],
    ]
    /// The folders that contain home folders, and the number of path components from there to a
    /// home folder.
    static let homes: [([String], Int)] = [(["home"], 1), (["var", "home"], 1), (["root"], 0)]

    /// Returns the reason for a path below the home folder.
    static func reason(belowHome names: [String]) -> Reason? {
        guard !names.isEmpty else { return .everything }
        if touches(names, [".local", "share", "searchlight"]) { return .store }
        return secrets.contains { touches(names, $0) } || saysSecret(names) ? .secrets : nil
    }

    /// Returns the reason for an absolute path, which may be below any user's home folder.
    static func reason(belowRoot names: [String]) -> Reason? {
        for (folder, depth) in homes where names.starts(with: folder) {
            return reason(belowHome: Array(names.dropFirst(folder.count + depth)))
        }
        return systemSecrets.contains { touches(names, $0) } ? .secrets : nil
    }

    /// Returns `true` if a hidden name, or a name below it, contains a word for keys or typed
    /// input. This covers programs that are not in the list. Names that are not hidden belong to
    /// documents, which may have any name.
    private static func saysSecret(_ names: [String]) -> Bool {
        guard let hidden = names.firstIndex(where: { $0.isHiddenName }) else { return false }
        return names[hidden...].contains { name in
            let words = name.lowercased().split { !$0.isLetter }.map(String.init)
            return words.contains { word in secretWords.contains(word) || secretEndings.contains { word.hasSuffix($0) }
            }
        }
    }

    /// Returns `true` if one path contains the other.
    private static func touches(_ names: [String], _ others: [String]) -> Bool {
        names.starts(with: others) || others.starts(with: names)
    }

    // MARK: The denied names

    /// Words in names that suggest secrets, in lower case.
    private static let secretWords: Set<String> = [
        "auth", "cert", "certs", "cookie", "cookies", "credential", "credentials", "creds", "histfile", "history",
        "key",
        "keychain", "keyring", "keyrings", "keys", "keystore", "keystores", "login", "logins", "passwd", "password",
        "passwords", "private", "psk", "secret", "secrets", "session", "sessions", "token", "tokens", "vault", "wallet",
        "wallets",
    ]
    private static let secretEndings = [
        "credentials", "history", "password", "passwords", "secrets", "wallet", "wallets",
    ]
    /// The denied paths below the home folder.
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
        // Cloud services and source code hosts.
        [".terraform.d"], [".m2", "settings.xml"], [".gradle", "gradle.properties"], [".s3cfg"], [".boto"], [".oci"],
        [".aliyun"], [".config", "doctl"], [".config", "hcloud"], [".config", "heroku"], [".config", "flyctl"],
        [".config", "kube"], [".config", "helm"], [".config", "configstore"], [".config", "github-copilot"],
        // Mail, connections and messages.
        [".msmtprc"], [".mbsyncrc"], [".fetchmailrc"], [".offlineimaprc"], [".config", "msmtp"], [".config", "isync"],
        [".config", "goa-1.0"], [".config", "evolution"], [".config", "filezilla"], [".config", "remmina"],
        [".config", "syncthing"], [".local", "state", "syncthing"], [".config", "Signal"], [".config", "Slack"],
        [".config", "discord"], [".config", "Element"], [".local", "share", "TelegramDesktop"], [".purple"],
        [".local", "share", "remmina"],
        // Wallets, and histories of typed input.
        [".bitcoin"], [".electrum"], [".ethereum"], [".monero"], [".litecoin"], [".dogecoin"], [".config", "Exodus"],
        [".lesshst"], [".viminfo"], [".esd_auth"], [".smbcredentials"],
    ]
    /// Folders in which programs keep sessions next to content that the user may want to find.
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

    /// Returns `true` if a readable path also contains a program's passwords or sessions.
    static func holdsSessions(_ path: DeclaredPath) -> Bool {
        let names = path.base.flatMap { usual[$0] }.map { $0 + path.names } ?? path.names
        guard path.base == .home || path.base.flatMap({ usual[$0] }) != nil else { return false }
        return sessions.contains { touches(names, $0) }
    }
}
