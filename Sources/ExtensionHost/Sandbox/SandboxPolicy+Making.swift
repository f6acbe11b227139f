// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc
import SystemSupport

extension SandboxPolicy {
    /// Creates the policy for a bundle's worker on this machine, for this user.
    ///
    /// - Parameter temporaryFolder: The worker's own folder; `nil` if none could be created.
    package init(_ bundle: ExtensionBundle, _ configuration: WorkerConfiguration, temporaryFolder: String?) {
        guard configuration.sandbox == .enforced else {
            self = .off
            return
        }
        self.init()
        let access = bundle.manifest.access
        allowsNetwork = access.allowsNetwork
        allowsNewCode = access.bindsSymbols
        memoryLimit = access.memoryLimit
        protections = configuration.protections
        if allowsNewCode { protections.remove(.code) }

        let paths = FollowedPaths()
        var granting = Granting(paths)
        for path in Self.systemPaths { granting.read(path) }
        if allowsNetwork { for path in Self.networkPaths { granting.read(path) } }
        // If the host cannot open files in /proc for the worker, the worker can read other
        // processes' public files but not list them. /proc/self is a link with a different target
        // for each process.
        granting.rules.append(Rule("/proc", .readFilesUnlessServed))
        granting.rules.append(Rule("/proc/self", .readUnlessServed))
        granting.write("/dev/null")
        for path in configuration.programFolders { granting.read(path) }
        granting.read(bundle.directory)
        if let temporaryFolder { granting.write(temporaryFolder) }
        self.temporaryFolder = temporaryFolder
        if let folders = UserFolders(environment: configuration.environment) {
            for folder in folders.sharedData + [folders.data] { granting.read(folder + "/mime") }
            let closed = ClosedFolders(folders, paths)
            let writable = WritableFolders(
                folders, AppNames(bundle: bundle.identifier, desktopEntry: access.desktopEntry),
                environment: configuration.environment, paths,
                access.writablePaths.isEmpty ? nil : WritableFolders.Surroundings(mounts: .current()))
            for folder in [folders.data, folders.cache] {
                let path = folder + "/" + bundle.identifier
                granting.own(path, .write, writable.reason(path))
            }
            let settings = folders.config + "/" + bundle.identifier
            granting.own(settings, .read, paths.real(settings).map(closed.reason) ?? .unfollowed)
            granting.declared(access, of: bundle, folders, closed, writable, configuration)
        } else {
            for path in access.readablePaths + access.writablePaths where path.base != nil && path.base != .bundle {
                granting.withheld.append(.init(path: path.description, reason: "there is no home folder (HOME)"))
            }
        }
        granting.withholdUnsafe()
        rules = granting.rules
        withheld = granting.withheld
        grants = granting.grants.filter { grant in granting.isReadable(grant.path) }
        lists = granting.lists
        unreadableLists = granting.unreadableLists
        places = granting.placesToLookAt
    }

    /// Returns `true` if a path leads to a readable file and the extension cannot redirect it. The
    /// extension could redirect a path with folders or links that it may write to.
    package func isReadableForGood(_ path: String) -> Bool {
        guard let followed = try? FollowedPath(path),
            rules.contains(where: { [.read, .write].contains($0.access) && lies(followed.path, in: $0.path) })
        else { return false }
        return !([followed.path] + followed.links).contains { name in
            rules.contains { $0.access == .write && $0.path != name && lies(name, in: $0.path) }
        }
    }

    /// Returns `true` if a path without links, or one of its parent folders, may be read.
    package func allowsReading(_ path: String) -> Bool {
        rules.contains { [.read, .write].contains($0.access) && lies(path, in: $0.path) }
    }

    /// The paths that every dynamically linked program with locale support needs. `/dev/zero` is
    /// excluded: a mapping of it is memory that no limit counts. The Go runtime reads the size of
    /// huge pages.
    private static let systemPaths = [
        "/usr", "/lib", "/lib32", "/lib64", "/sys/devices/system/cpu", "/dev/urandom", "/dev/random",
        "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/nsswitch.conf", "/etc/passwd",
        "/etc/group", "/etc/locale.alias", "/etc/mime.types", "/etc/fonts", "/etc/alternatives", "/etc/gcrypt",
        "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
    ]

    /// The paths for name resolution and certificates.
    private static let networkPaths = [
        "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
        "/etc/protocols", "/etc/ssl", "/etc/pki", "/etc/ca-certificates",
    ]
}

extension WorkerConfiguration {
    /// The folders with the workers' code: the worker program, the extension library, the Swift
    /// runtime.
    var programFolders: [String] {
        let program = URL(filePath: workerPath).deletingLastPathComponent().path
        return ([program, frameworkFolder, Self.runtimeFolder].compactMap { $0 } + libraryFolders)
            .filter { UserFolders.absolute($0) != nil }
    }

    /// The folder of this process's Swift runtime, which workers use too.
    private static let runtimeFolder: String? = {
        // Any function in libswiftCore.
        guard let name = csandbox_library_with("swift_retain"), let path = SmallFile.resolved(String(cString: name))
        else { return nil }
        return URL(filePath: path).deletingLastPathComponent().path
    }()
}

/// The rules of a policy under construction.
private struct Granting {
    var rules: [SandboxPolicy.Rule] = []
    var withheld: [SandboxReport.DeniedPath] = []
    /// The files and folders that may change before a request.
    private var places = GrantedPathIdentities()
    /// The indices of rules whose paths have no links, by the bytes of the path.
    private var known: [[UInt8]: Int] = [:]

    /// The links that lead to the rules' paths, and the declared text of each path, by rule index.
    private var ways: [Int: (links: [String], text: String)] = [:]
    private let paths: FollowedPaths
    /// The granted readable paths from the manifest, except the bundle.
    private(set) var grants: [SandboxPolicy.Grant] = []
    private(set) var lists: [SandboxPolicy.Grant] = []
    private(set) var unreadableLists: [SandboxPolicy.Grant] = []

    /// The maximum number of folders in one file of `ReadablePathsFrom`, and in all of them.
    static let maximumListed = 256
    static let maximumListedInAll = Int(CSANDBOX_MAXIMUM_RULES)
    /// The maximum size of such a file, in bytes.
    static let maximumListBytes = 64 << 10

    init(_ paths: FollowedPaths) { self.paths = paths }

    mutating func read(_ path: String) { add(path, .read) }
    mutating func write(_ path: String) { add(path, .write) }
    /// Adds a folder that has the extension's name. A file with that name belongs to another
    /// program (`recently-used.xbel`), and some folders belong to systemd (`user-tmpfiles.d`),
    /// although both names could be bundle names.
    mutating func own(_ path: String, _ access: SandboxPolicy.Access, _ reason: DenyList.Reason?) {
        places.note(path)
        if let reason {
            withheld.append(.init(path: path, reason: "it " + reason.sentence))
            return
        }
        guard let real = paths.real(path) else { return }
        var status = stat()
        if stat(real, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR { add(path, access) }
    }

    /// Adds a rule for a path's current target. The worker opens exactly that target and follows no
    /// link.
    ///
    /// - Parameter text: The path as the manifest declares it, for reports; `nil` if it is `path`.
    mutating func add(_ path: String, _ access: SandboxPolicy.Access, _ text: String? = nil) {
        guard let followed = try? paths.follow(path), followed.path != "/" else { return }
        let key = Array(followed.path.utf8)
        if !followed.links.isEmpty {
            ways[rules.count] = (followed.links, text ?? path)
        } else if let place = known[key] {
            if access == .write { rules[place].access = .write }
            return
        } else {
            known[key] = rules.count
        }
        rules.append(SandboxPolicy.Rule(followed.path, access))
    }

    /// Removes rules whose path leads through a link in a folder that the extension may write to.
    /// The extension could have created that link for its next start.
    mutating func withholdUnsafe() {
        let writable = rules.filter { $0.access == .write }.map(\.path)
        let unsafe = ways.filter { way in
            way.value.links.contains { link in writable.contains { lies(link, in: $0) } }
        }
        guard !unsafe.isEmpty else { return }
        for (_, way) in unsafe.sorted(by: { $0.key < $1.key }) {
            withheld.append(
                .init(path: way.text, reason: "it leads through a link in a folder that the extension can change"))
        }
        rules = rules.indices.filter { unsafe[$0] == nil }.map { rules[$0] }
        (ways, known) = ([:], [:])
    }

    mutating func declared(
        _ access: DeclaredAccess, of bundle: ExtensionBundle, _ folders: UserFolders, _ closedFolders: ClosedFolders,
        _ writable: WritableFolders, _ configuration: WorkerConfiguration
    ) {
        let usesNamedFolders = (access.readablePaths + access.readablePathsFrom).contains {
            $0.base?.isDocuments == true
        }
        if usesNamedFolders || !access.writablePaths.isEmpty {
            places.note(folders.settings, isRead: true)
        }
        for declared in access.writablePaths {
            guard let path = folders.path(declared, bundle: bundle.directory) else { continue }
            places.note(path)
            let closed =
                Self.closed(configuration) + configuration.programFolders + configuration.trustedFolders
                + [bundle.directory]
            if let problem = problem(path, folders, closed: closed) {
                withheld.append(.init(path: declared.description, reason: problem))
            } else if let reason = writable.reason(path) {
                withheld.append(
                    .init(path: declared.description, reason: "it \(reason.sentence); declare \(reason.advice) instead")
                )
            } else if let other = Self.otherBundle(declared, of: bundle, configuration) {
                withheld.append(.init(path: declared.description, reason: "it is a folder of the extension \(other)"))
            } else {
                add(path, .write, declared.description)
            }
        }
        for declared in access.readablePaths {
            guard let path = folders.path(declared, bundle: bundle.directory) else { continue }
            places.note(path)
            if declared.base == .bundle, !leads(path, into: bundle.directory) {
                withheld.append(.init(path: declared.description, reason: "it leads out of the bundle"))
            } else if let problem = shared(path, folders) {
                withheld.append(.init(path: declared.description, reason: problem))
            } else if declared.base == .bundle {
                add(path, .read, declared.description)
            } else {
                grantReading(path, declared.description, of: declared, folders, closedFolders, configuration)
            }
        }
        var listed = 0
        for declared in access.readablePathsFrom {
            guard let file = folders.path(declared, bundle: bundle.directory) else { continue }
            places.note(file, isRead: true)
            lists.append(SandboxPolicy.Grant(path: file, declared: declared))
            guard let followed = try? paths.follow(file) else {
                withheld.append(
                    .init(path: declared.description, reason: "it \(DenyList.Reason.unfollowed.sentence)"))
                unreadableLists.append(SandboxPolicy.Grant(path: file, declared: declared))
                continue
            }
            if isWritable(followed) {
                withheld.append(
                    .init(path: declared.description, reason: "the extension can write this list itself"))
                continue
            }
            if let reason = closedFolders.reason(followed.path) {
                withheld.append(.init(path: declared.description, reason: "it " + reason.sentence))
                continue
            }
            let lines: [String?]
            do throws(Unreadable) { lines = try Self.lines(of: followed) } catch {
                withheld.append(
                    .init(
                        path: declared.description,
                        reason: "it cannot be read, or is larger than \(Self.maximumListBytes >> 10) KiB"))
                unreadableLists.append(SandboxPolicy.Grant(path: file, declared: declared))
                continue
            }
            for line in lines {
                listed += 1
                guard listed <= Self.maximumListedInAll else { break }
                guard let line else {
                    withheld.append(.init(path: file, reason: "a line of it is not UTF-8 text"))
                    continue
                }
                guard let path = Self.listed(line, home: folders.home) else {
                    withheld.append(.init(path: line, reason: "it is not an absolute path without “..”"))
                    continue
                }
                grantReading(path, line, of: declared, folders, closedFolders, configuration)
            }
        }
    }

    private mutating func grantReading(
        _ path: String, _ text: String, of declared: DeclaredPath, _ folders: UserFolders,
        _ closedFolders: ClosedFolders,
        _ configuration: WorkerConfiguration
    ) {
        places.note(path)
        if let problem = problem(path, folders, closed: Self.closed(configuration)) {
            withheld.append(.init(path: text, reason: problem))
        } else if let reason = paths.real(path).map(closedFolders.reason) ?? .unfollowed {
            withheld.append(.init(path: text, reason: "it " + reason.sentence))
        } else {
            add(path, .read, text)
            grants.append(SandboxPolicy.Grant(path: path, declared: declared))
        }
    }

    /// Returns `true` if a rule allows reading a path.
    func isReadable(_ path: String) -> Bool {
        // A path that does not exist has no target. The policy is made again once the path exists.
        guard let real = paths.real(path) else { return false }
        return rules.contains { lies(real, in: $0.path) }
    }

    /// Returns the folders that no declaration can grant. The workers' folder contains the files of
    /// all other workers.
    private static func closed(_ configuration: WorkerConfiguration) -> [String] {
        configuration.protectedFolders + [configuration.temporaryFolder].compactMap { $0 }
    }

    /// Returns the installed extension that owns a folder named after an app's desktop entry; `nil`
    /// if no other extension owns it.
    private static func otherBundle(
        _ declared: DeclaredPath, of bundle: ExtensionBundle, _ configuration: WorkerConfiguration
    ) -> String? {
        declared.names.first { name in
            guard name != bundle.identifier, AppNames.isAppName(name) else { return false }
            return configuration.trustedFolders.contains {
                access($0 + "/" + name + ExtensionBundle.suffix, F_OK) == 0
            }
        }
    }

    /// Returns the reason why a path declared by the author (not the user) is not granted.
    private func shared(_ path: String, _ folders: UserFolders) -> String? {
        guard let real = paths.real(path) else { return "it \(DenyList.Reason.unfollowed.sentence)" }
        if let reason = Self.processes(path, real) { return reason }
        for folder in folders.bases.map(\.path) where leads(folder, into: real) {
            return "it is or contains \(folder), which all programs use for their files"
        }
        return nil
    }

    /// Returns a reason to deny a path in /proc: its links have a different target for each
    /// process, and writes affect other processes.
    private static func processes(_ path: String, _ real: String) -> String? {
        lies(path, in: "/proc") || lies(real, in: "/proc") ? "it is in /proc" : nil
    }

    /// Returns `true` if a path leads into a folder after all links are resolved.
    private func leads(_ path: String, into folder: String) -> Bool {
        guard let real = paths.real(path), let folder = paths.real(folder) else { return false }
        return lies(real, in: folder)
    }

    /// Returns the reason why a path is not granted.
    private func problem(_ path: String, _ folders: UserFolders, closed: [String]) -> String? {
        guard let real = paths.real(path) else { return "it \(DenyList.Reason.unfollowed.sentence)" }
        if let reason = Self.processes(path, real) { return reason }
        if leads(folders.home, into: real) { return "it is or contains the home folder" }
        for folder in closed.map({ paths.real($0) ?? $0 }) where lies(folder, in: real) || lies(real, in: folder) {
            return "it would include \(folder), a folder of Searchlight"
        }
        return nil
    }

    /// The paths whose change makes the rules invalid. A path inside another granted folder is left
    /// out: the folder's rule covers everything that is created there, such as each file that the
    /// extension replaces.
    var placesToLookAt: GrantedPathIdentities {
        places.leavingOut { path in
            guard let real = paths.existing(path) else { return false }
            let access = rules.first { $0.path.utf8.elementsEqual(real.utf8) }?.access
            return rules.contains { rule in
                lies(real, in: rule.path) && !lies(rule.path, in: real) && (rule.access == .write || access != .write)
            }
        }
    }

    /// Returns `true` if the extension could change or replace a file, or a link that leads to it.
    private func isWritable(_ file: FollowedPath) -> Bool {
        let writable = rules.filter { $0.access == .write }
        return ([file.path] + file.links).contains { name in writable.contains { lies(name, in: $0.path) } }
    }

    /// Returns the path lines of a list file, with `nil` for a line that is not UTF-8. Returns an
    /// empty array if the file does not exist.
    ///
    /// - Throws: ``Unreadable`` if the file cannot be read or is too large.
    private static func lines(of file: FollowedPath) throws(Unreadable) -> [String?] {
        // Opens the path that was checked, even if a link has replaced it since.
        let number = csandbox_open_exactly(file.path, 0)
        if number == -ENOENT || number == -ENOTDIR { return [] }
        guard number >= 0 else { throw Unreadable() }
        let descriptor = OwnedDescriptor(adopting: number)
        guard let bytes = try? BoundedFile.regular("/proc/self/fd/\(descriptor.number)", limit: maximumListBytes) else {
            throw Unreadable()
        }
        let lines = bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
            .map { String(validating: $0, as: UTF8.self)?.trimmingCharacters(in: .whitespaces) }
        // A line with "!" is an exclusion, and one with "+" an option. The extension itself reads
        // them.
        return Array(
            lines.filter { $0.map { !$0.isEmpty && !"#!+".contains($0.prefix(1)) } ?? true }.prefix(maximumListed))
    }

    private struct Unreadable: Error {}

    private static func listed(_ line: String, home: String) -> String? {
        UserFolders.absolute(line == "~" ? home : line.hasPrefix("~/") ? home + line.dropFirst() : line)
    }
}
