// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The purpose of a mail folder in mail programs.
package enum MailboxRole: Sendable, Equatable {
    case inbox, sent, drafts, archive, junk, trash, other

    /// The names that mail programs give such a folder in several languages, in lower case.
    private static let names: [(MailboxRole, Set<String>)] = [
        (
            .trash,
            [
                "trash", "deleted", "deleted items", "deleted messages", "deleted-items", "bin", "papierkorb",
                "gelöscht", "gelöschte elemente", "corbeille", "éléments supprimés", "cestino", "papelera",
                "elementos eliminados", "lixeira", "prullenbak", "kosz", "корзина", "roskakori", "papperskorgen",
            ]
        ),
        (
            .junk,
            [
                "junk", "spam", "junk e-mail", "junk email", "junk mail", "junk-e-mail", "bulk", "bulk mail",
                "spamverdacht", "unerwünscht", "pourriel", "courrier indésirable", "indésirables",
                "posta indesiderata", "correo no deseado", "lixo eletrônico", "ongewenst", "спам",
            ]
        ),
        (
            .sent,
            [
                "sent", "sent items", "sent mail", "sent messages", "sent-mail", "gesendet", "gesendete elemente",
                "gesendete objekte", "envoyés", "éléments envoyés", "inviata", "posta inviata", "enviados",
                "verzonden", "wysłane", "отправленные",
            ]
        ),
        (.drafts, ["drafts", "draft", "entwürfe", "brouillons", "bozze", "borradores", "rascunhos", "concepten"]),
        (.archive, ["archive", "archives", "archiv", "all mail", "archivio", "archivos"]),
        (.inbox, ["inbox", "posteingang", "boîte de réception"]),
    ]

    /// - Parameter components: The names of the folder and its parent folders, outermost first.
    init(_ components: [String]) {
        let lowered = components.map { $0.lowercased() }
        for (role, names) in Self.names {
            // Folders below the trash are trash too. Folders below the inbox may have other roles.
            let found =
                role == .trash || role == .junk
                ? lowered.contains(where: names.contains) : lowered.last.map(names.contains) == true
            if found {
                self = role
                return
            }
        }
        self = .other
    }
}

/// A folder that contains messages.
package struct MailFolder: Sendable, Equatable {
    package enum Format: Sendable, Equatable {
        /// One file per message, in `cur` and `new`.
        case maildir
        /// One file with all messages.
        case mbox
    }

    /// The absolute path of the Maildir, or of the mbox file.
    package var path: String
    package var format: Format
    /// The account: the name of its outermost folder.
    package var account: String
    /// The displayed name, such as `Archive/2024`.
    package var name: String
    package var role: MailboxRole
}

/// The mail folders below the folders in the settings.
package struct MailFolders {
    package enum Limits {
        static let depth = 24
        /// The maximum number of visited files and folders, not counting files in `cur` and `new`.
        static let entries = 200_000
    }

    /// Files of mail programs that are not mailboxes. Other files are recognized by their first
    /// bytes.
    private static let otherEndings: Set<String> = [
        "msf", "dat", "json", "html", "sqlite", "db", "log", "js", "ini", "cmeta", "index", "data", "ibex", "xml",
        "jpg", "png", "pdf", "zip", "gz", "bak", "lock", "sqlite-wal", "sqlite-shm", "mab", "txt",
    ]

    /// The folders, sorted by the bytes of their paths.
    package private(set) var folders: [MailFolder] = []
    /// The omitted paths, with the reasons.
    package private(set) var leftOut: [(path: String, reason: LeftOutReason)] = []

    private let settings: MailSettings
    private let visiting: (String) -> Void
    private var entriesMet = 0
    /// The folder from the settings that is being searched.
    private var root = ""

    /// Finds the folders. Symbolic links below a folder from the settings are not followed.
    ///
    /// - Parameter visiting: Called for each visited folder, and for each file before it is opened.
    package init(_ settings: MailSettings, visiting: @escaping (String) -> Void) {
        self.settings = settings
        self.visiting = visiting
        for root in settings.folders { addRoot(root) }
        if let folder = settings.unnamedThunderbird { leftOut.append((folder, .notNamed)) }
        folders.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        // One folder from the settings may be inside another. File names are compared as bytes.
        var last: MailFolder?
        folders.removeAll { folder in
            defer { last = folder }
            return last.map { $0.path.utf8.elementsEqual(folder.path.utf8) } ?? false
        }
    }

    /// Returns the folder at a path if the settings include it. Does not search for other folders.
    ///
    /// - Returns: nil if there is no folder, or if it is left out.
    package static func folder(at path: String, _ settings: MailSettings) -> MailFolder? {
        guard let (root, place) = place(of: path, settings), let format = format(of: path) else { return nil }
        let folder = make(path, format, place)
        if settings.excludes(path, in: root, named: folder.name) { return nil }
        return reasonToLeaveOut(folder, settings) == nil ? folder : nil
    }

    /// `true` if a path is in a folder from the settings.
    package static func isServed(_ path: String, _ settings: MailSettings) -> Bool {
        settings.folders.contains { path.utf8.elementsEqual($0.utf8) || path.utf8.starts(with: ($0 + "/").utf8) }
    }

    /// `true` if a path is in a folder from the settings that does not exist, for example on an
    /// unmounted disk. Its messages may still exist.
    package static func isAway(_ path: String, _ settings: MailSettings) -> Bool {
        let roots = settings.folders.filter {
            path.utf8.elementsEqual($0.utf8) || path.utf8.starts(with: ($0 + "/").utf8)
        }
        return !roots.isEmpty && roots.allSatisfy { fileType($0) == nil }
    }

    /// `true` if a folder or mbox exists but may not be read, so that its messages are unknown.
    package static func isClosed(_ path: String) -> Bool {
        let isFolder = fileType(path) == S_IFDIR
        return access(path, isFolder ? R_OK | X_OK : R_OK) != 0 && LeftOutReason(errno: errno).keepsItems
    }

    /// `true` if a path may be a mailbox: it is in a folder from the settings (for Thunderbird, in
    /// one of its mail folders), and its name is not used for another kind of file.
    package static func mayBeMailbox(_ path: String, _ settings: MailSettings) -> Bool {
        let name = lastComponent(path)
        return name.utf8.first != UInt8(ascii: ".") && mayBeMbox(name) && place(of: path, settings) != nil
    }

    /// `true` if a Maildir contains the file.
    package static func isMessage(_ folder: String, _ file: MaildirFile) -> Bool {
        fileType(folder + "/" + file.part.rawValue + "/" + file.name) == S_IFREG
    }

    // MARK: Search

    /// The values that determine the name and account of a folder.
    private struct Place {
        /// The path of the account's folder.
        var base: String
        var account: String
    }

    private mutating func addRoot(_ root: String) {
        self.root = root
        switch Self.fileType(root) {
        case nil: if settings.named.contains(root) { leftOut.append((root, .notThere)) }
        case S_IFREG: addFile(root, Self.defaultPlace(root))
        case S_IFDIR:
            if let profiles = Self.profiles(of: root) {
                for profile in profiles { addProfile(profile) }
            } else {
                walk(root, Self.defaultPlace(root), depth: 0)
            }
        default: leftOut.append((root, .notRegular))
        }
    }

    /// Adds a file if it is an mbox. A file that the user listed, that has content and that is not
    /// an mbox is left out.
    private mutating func addFile(_ path: String, _ place: Place) {
        do throws(LeftOutReason) {
            let file = try OpenFile(path)
            if MboxReader.isStart(file, at: 0) {
                add(path, .mbox, place)
            } else if settings.named.contains(path), file.size > 0 {
                leftOut.append((path, .notMailbox))
            }
        } catch {
            if error.keepsItems { leftOut.append((path, error)) }
        }
    }

    /// Adds Thunderbird's folders: one for each server below `Mail` and `ImapMail`.
    private mutating func addProfile(_ profile: String) {
        for kind in ["Mail", "ImapMail"] {
            let folder = profile + "/" + kind
            for server in names(in: folder) where Self.fileType(folder + "/" + server, follows: false) == S_IFDIR {
                let path = folder + "/" + server
                walk(path, Place(base: path, account: server), depth: 0)
            }
        }
    }

    private mutating func walk(_ directory: String, _ place: Place, depth: Int) {
        visiting(directory)
        guard depth <= Limits.depth else {
            leftOut.append((directory, .tooDeep))
            return
        }
        let isMaildir = Self.isMaildir(directory)
        if isMaildir { add(directory, .maildir, place) }
        for name in names(in: directory) {
            if isMaildir, ["cur", "new", "tmp"].contains(name) { continue }
            let path = directory + "/" + name
            guard !path.utf8.contains(0) else { continue }
            guard let type = Self.fileType(path, follows: false) else {
                let reason = LeftOutReason(errno: errno)
                if reason.keepsItems { leftOut.append((path, reason)) }
                continue
            }
            let isHidden = name.utf8.first == UInt8(ascii: ".")
            if type == S_IFDIR {
                // A hidden folder is considered only if it is a Maildir, as in Maildir++.
                if isHidden, !Self.isMaildir(path) { continue }
                walk(path, place, depth: depth + 1)
            } else if type == S_IFREG, !isHidden, Self.mayBeMbox(name) {
                visiting(path)
                addFile(path, place)
            }
        }
    }

    private mutating func add(_ path: String, _ format: MailFolder.Format, _ place: Place) {
        let folder = Self.make(path, format, place)
        if settings.excludes(path, in: root, named: folder.name) {
            leftOut.append((path, .excluded))
        } else if let reason = Self.reasonToLeaveOut(folder, settings) {
            leftOut.append((path, reason))
        } else {
            folders.append(folder)
        }
    }

    private static func reasonToLeaveOut(_ folder: MailFolder, _ settings: MailSettings) -> LeftOutReason? {
        switch folder.role {
        case .trash where !settings.includesTrash: .trash
        case .junk where !settings.includesSpam: .spam
        default: nil
        }
    }

    /// Returns the names in a directory, sorted by byte value, without `.` and `..`.
    private mutating func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else {
            let code = errno
            if code != ENOENT { leftOut.append((directory, LeftOutReason(errno: code))) }
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            guard entriesMet < Limits.entries else {
                if leftOut.last?.reason != .tooManyEntries { leftOut.append((directory, .tooManyEntries)) }
                break
            }
            entriesMet += 1
            switch DirectoryNames.name(of: entry) {
            case ".", "..": continue
            case let name?: names.append(name)
            case nil: leftOut.append((directory, .nameNotUTF8))
            }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    // MARK: Recognition

    private static func fileType(_ path: String, follows: Bool = true) -> mode_t? {
        var status = stat()
        guard (follows ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        return status.st_mode & S_IFMT
    }

    static func isMaildir(_ directory: String) -> Bool {
        fileType(directory + "/cur") == S_IFDIR && fileType(directory + "/new") == S_IFDIR
    }

    static func mayBeMbox(_ name: String) -> Bool {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return true }
        return !otherEndings.contains(name[name.index(after: dot)...].lowercased())
    }

    static func isMbox(_ path: String) -> Bool { (try? OpenFile(path)).map { MboxReader.isStart($0, at: 0) } ?? false }

    static func format(of path: String) -> MailFolder.Format? {
        switch fileType(path) {
        case S_IFDIR: isMaildir(path) ? .maildir : nil
        case S_IFREG: isMbox(path) ? .mbox : nil
        default: nil
        }
    }

    private static func defaultPlace(_ root: String) -> Place { Place(base: root, account: lastComponent(root)) }

    private static func lastComponent(_ path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Returns the root and the account for a path, in the same way as the search for folders.
    private static func place(of path: String, _ settings: MailSettings) -> (root: String, Place)? {
        for root in settings.folders
        where path.utf8.elementsEqual(root.utf8) || path.utf8.starts(with: (root + "/").utf8) {
            guard let profiles = profiles(of: root) else { return (root, defaultPlace(root)) }
            for profile in profiles {
                for kind in ["Mail", "ImapMail"] {
                    let folder = profile + "/" + kind + "/"
                    guard path.utf8.starts(with: folder.utf8) else { continue }
                    let server = String(
                        Substring(path.utf8.dropFirst(folder.utf8.count).prefix { $0 != UInt8(ascii: "/") }))
                    if server.isEmpty { continue }
                    return (root, Place(base: folder + server, account: server))
                }
            }
        }
        return nil
    }

    private static func make(_ path: String, _ format: MailFolder.Format, _ place: Place) -> MailFolder {
        var components: [String] = []
        if path.utf8.starts(with: (place.base + "/").utf8) {
            // Splits at bytes, as the file system does.
            for part in path.utf8.dropFirst(place.base.utf8.count + 1).split(separator: UInt8(ascii: "/")) {
                if part.first == UInt8(ascii: ".") {
                    // Maildir++ joins the names of nested folders with dots.
                    components += part.split(separator: UInt8(ascii: ".")).map(ModifiedUTF7.decoded)
                } else {
                    let name = part.suffix(4).elementsEqual(".sbd".utf8) ? part.dropLast(4) : part
                    components.append(ModifiedUTF7.decoded(name))
                }
            }
        }
        let isAccountItself = components.isEmpty
        let account = place.account
        return MailFolder(
            path: path, format: format, account: account,
            name: isAccountItself ? account : components.joined(separator: "/"),
            role: isAccountItself && format == .maildir ? .inbox : MailboxRole(components))
    }

    // MARK: Thunderbird

    /// Returns the profiles that `profiles.ini` names; nil if there is no such file.
    static func profiles(of root: String) -> [String]? {
        guard let file = try? OpenFile(root + "/profiles.ini"), file.size <= MailSettings.maximumSize,
            let bytes = try? file.read(at: 0, count: Int(file.size))
        else { return nil }
        var profiles: [String] = []
        var path: String?
        var isRelative = true
        func end() {
            guard let named = path else { return }
            if let full = MailSettings.normalized(isRelative ? root + "/" + named : named), !profiles.contains(full) {
                profiles.append(full)
            }
        }
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                end()
                (path, isRelative) = (nil, true)
            } else if line.hasPrefix("Path=") {
                path = String(line.dropFirst("Path=".count))
            } else if line.hasPrefix("IsRelative=") {
                isRelative = !line.hasSuffix("0")
            }
        }
        end()
        return profiles
    }
}

/// The names of the files in a Maildir.
package enum DirectoryNames {
    /// Returns the name of a directory entry; nil if it is not UTF-8.
    static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
                String(validatingCString: $0)
            }
        }
    }

    /// Returns at most `limit` files in a Maildir, as `cur/NAME` and `new/NAME`, sorted by the
    /// bytes of NAME.
    package static func messages(
        of folder: String, limit: Int = 2_000_000, visiting: () -> Void = {}
    ) throws(LeftOutReason) -> [MaildirFile] {
        var files: [MaildirFile] = []
        for part in [MaildirFile.Part.cur, .new] {
            guard let stream = opendir(folder + "/" + part.rawValue) else { throw LeftOutReason(errno: errno) }
            defer { closedir(stream) }
            while let entry = readdir(stream), files.count < limit {
                guard let name = name(of: entry), name.utf8.first != UInt8(ascii: ".") else { continue }
                files.append(MaildirFile(part: part, name: name))
                if files.count % 4096 == 0 { visiting() }
            }
        }
        return files.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

/// A message file in a Maildir.
package struct MaildirFile: Sendable, Equatable {
    package enum Part: String, Sendable { case cur, new }

    package var part: Part
    package var name: String

    package init(part: Part, name: String) {
        self.part = part
        self.name = name
    }

    /// The part of the name that does not change when the flags change.
    package var unique: String {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return name }
        return String(name[..<colon])
    }

    package var flags: MailFlags { MailFlags(fileName: name) }

    /// Reads a path such as `/home/ada/Maildir/cur/NAME`; nil for other paths.
    package static func split(_ path: String) -> (folder: String, file: MaildirFile)? {
        // Splits at bytes: in a comparison of characters, a combining character after a slash would
        // hide the slash.
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count > 3, let part = Part(rawValue: String(Substring(parts[parts.count - 2]))),
            let name = parts.last, !name.isEmpty, name.first != UInt8(ascii: ".")
        else { return nil }
        let folder = String(Substring(path.utf8[..<parts[parts.count - 2].startIndex].dropLast()))
        return (folder, MaildirFile(part: part, name: String(Substring(name))))
    }
}

/// The encoding of folder names in IMAP (RFC 3501), which mail programs also use for file names.
enum ModifiedUTF7 {
    /// Returns the decoded name, or the name itself if it is not in this encoding.
    static func decoded(_ bytes: Substring.UTF8View) -> String {
        let name = String(Substring(bytes))
        guard name.utf8.contains(UInt8(ascii: "&")), name.utf8.count <= 1024 else { return name }
        var result = ""
        var rest = name[...]
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            guard let end = rest[start...].firstIndex(of: "-") else { return name }
            let encoded = rest[rest.index(after: start)..<end]
            if encoded.isEmpty {
                result += "&"
            } else {
                guard let text = utf16(ofBase64: encoded) else { return name }
                result += text
            }
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func utf16(ofBase64 text: Substring) -> String? {
        var units: [UInt16] = []
        var (bits, count) = (UInt32(0), 0)
        for byte in text.utf8 {
            guard let value = alphabet.firstIndex(of: byte == UInt8(ascii: ",") ? UInt8(ascii: "/") : byte) else {
                return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 16 {
                count -= 16
                units.append(UInt16(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        let text = String(decoding: units, as: UTF16.self)
        return text.isEmpty || text.unicodeScalars.contains("\u{FFFD}") ? nil : text
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
