// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import Synchronization
import SystemSupport

/// An inotify(7) watch on the bundles in a search path.
///
/// It watches the directories in the search path and each bundle in them. For a directory that does
/// not exist, it watches the nearest existing parent. One thread waits in the kernel; nothing
/// polls. The watch ends with its owner.
///
/// Two kinds of change are not detected:
///
/// - a new target of a symbolic link above a directory in the search path,
/// - the rename of a directory above the watched directories.
final class DirectoryWatch: Sendable {
    /// The relevant names in a watched directory.
    enum Filter: Equatable, Sendable {
        /// All names: the directory is a bundle.
        case anything
        /// The names of bundles.
        case bundles
        /// Names on the path to directories that do not exist.
        case names(Set<String>)

        func admits(_ name: String) -> Bool {
            switch self {
            case .anything: true
            case .bundles: name.hasSuffix(ExtensionBundle.suffix)
            case .names(let names): names.contains(name)
            }
        }

        func union(_ other: Filter) -> Filter {
            switch (self, other) {
            case (.names(let one), .names(let two)): .names(one.union(two))
            case (.bundles, .bundles): .bundles
            // A directory rarely has both roles, and a superfluous report is harmless.
            default: .anything
            }
        }
    }

    /// The state that the thread and its owner share.
    private final class Shared: Sendable {
        let inotify: OwnedDescriptor
        /// The filters by watch descriptor.
        let filters = Mutex<[Int32: Filter]>([:])

        init(inotify: OwnedDescriptor) { self.inotify = inotify }
    }
    private let shared: Shared
    /// The thread ends when this descriptor is closed.
    private let life: OwnedDescriptor
    private let searchPath: [String]

    /// The maximum number of bundles that have their own watch. For further bundles, only creation,
    /// removal and renames are detected.
    static let maximumBundles = 1024

    private static let presence =
        UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
    private static let content =
        presence | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)

    /// The error thrown if nothing can be watched.
    struct Failure: Error {
        var operation: String
        var code: Int32
    }

    /// Starts the thread. Nothing is watched before ``refresh()``.
    ///
    /// - Parameter onChange: Called on the thread for each relevant event; must not block.
    init(searchPath: [String], onChange: @escaping @Sendable () -> Void) throws(Failure) {
        self.searchPath = searchPath
        let number = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard number >= 0 else { throw Failure(operation: "creating an inotify descriptor", code: errno) }
        let shared = Shared(inotify: OwnedDescriptor(adopting: number))
        self.shared = shared
        var ends: [Int32] = [-1, -1]
        let code = csandbox_pipe(&ends)
        guard code == 0 else { throw Failure(operation: "creating a pipe", code: code) }
        let end = OwnedDescriptor(adopting: ends[0])
        life = OwnedDescriptor(adopting: ends[1])
        let result = OwnThread.start("bundle-watch") { Self.run(shared, end, onChange) }
        guard result == 0 else { throw Failure(operation: "starting a thread", code: result) }
    }

    // MARK: The watched directories

    /// Adds watches for the current directories. Must be called before the bundles are read, so
    /// that later changes are reported.
    ///
    /// - Returns: The paths that cannot be watched, with reasons. The system limits the number of
    ///   watches per user.
    @discardableResult
    func refresh() -> [String] {
        var wanted: [Int32: Filter] = [:]
        var problems: [String] = []
        func note(_ result: Swift.Result<Int32, Failure>, _ path: String, _ filter: Filter) {
            switch result {
            case .success(let number): wanted[number] = wanted[number].map { $0.union(filter) } ?? filter
            case .failure(let failure):
                problems.append("\(path) is not watched: \(String(cString: strerror(failure.code))).")
            }
        }
        for directory in searchPath {
            let (result, path, filter) = watchNearest(directory)
            note(result, path, filter)
            guard filter == .bundles else { continue }
            for name in ExtensionRegistry.bundleNames(in: directory) where wanted.count < Self.maximumBundles {
                let bundle = directory + "/" + name
                switch add(bundle, Self.content) {
                // The bundle no longer exists or is not a directory. The parent's watch reports
                // further changes.
                case .failure(let failure) where [ENOENT, ENOTDIR, EACCES].contains(failure.code): break
                case let result: note(result, bundle, .anything)
                }
            }
        }
        let old = shared.filters.withLock { filters in
            defer { filters = wanted }
            return filters
        }
        for number in old.keys where wanted[number] == nil { inotify_rm_watch(shared.inotify.number, number) }
        return problems
    }

    var count: Int { shared.filters.withLock { $0.count } }

    private func add(_ path: String, _ mask: UInt32) -> Swift.Result<Int32, Failure> {
        let flags = UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD) | UInt32(IN_EXCL_UNLINK)
        let number = inotify_add_watch(shared.inotify.number, path, mask | flags)
        return number >= 0 ? .success(number) : .failure(Failure(operation: "watching", code: errno))
    }

    /// Watches a directory, or its nearest existing parent.
    private func watchNearest(_ directory: String) -> (Swift.Result<Int32, Failure>, path: String, Filter) {
        var status = stat()
        // Repeats the check, to find a directory that appears between the check and the watch.
        for _ in 0..<8 {
            let result = add(directory, Self.content)
            guard case .failure(let failure) = result, [ENOENT, ENOTDIR].contains(failure.code) else {
                return (result, directory, .bundles)
            }
            var missing = directory
            var around = directory
            var watched = result
            repeat {
                missing = around
                around = Self.parent(of: around)
                watched = add(around, Self.presence)
            } while around != "/" && Self.isAbsent(watched)
            guard stat(missing, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else { continue }
            let name = missing.split(separator: "/").last.map(String.init) ?? missing
            return (watched, around, .names([name]))
        }
        return (.failure(Failure(operation: "watching", code: EAGAIN)), directory, .bundles)
    }

    private static func isAbsent(_ result: Swift.Result<Int32, Failure>) -> Bool {
        if case .failure(let failure) = result { [ENOENT, ENOTDIR].contains(failure.code) } else { false }
    }

    private static func parent(of path: String) -> String {
        let parts = path.split(separator: "/").dropLast()
        return "/" + parts.joined(separator: "/")
    }

    // MARK: The thread

    private static func run(_ shared: Shared, _ end: OwnedDescriptor, _ onChange: () -> Void) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            var descriptors = [
                pollfd(fd: end.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: shared.inotify.number, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&descriptors, nfds_t(descriptors.count), -1) >= 0 || errno == EINTR else { return }
            if descriptors[0].revents != 0 { return }
            guard descriptors[1].revents != 0 else { continue }
            let count = read(shared.inotify.number, &buffer, buffer.count)
            if count < 0, errno != EINTR, errno != EAGAIN { return }
            guard count > 0 else { continue }
            let matters = shared.filters.withLock { filters in
                Self.matters(buffer[..<count]) { filters[$0] }
            }
            if matters { onChange() }
        }
    }

    private static let headerBytes = 16

    /// Returns `true` if any of the events (`struct inotify_event`) is relevant.
    static func matters(_ events: ArraySlice<UInt8>, _ filter: (Int32) -> Filter?) -> Bool {
        var rest = events
        while rest.count >= headerBytes {
            let (watch, mask, length) = rest.withUnsafeBytes {
                (
                    $0.loadUnaligned(fromByteOffset: 0, as: Int32.self),
                    $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
                    Int($0.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                )
            }
            // The queue has overflowed and events were lost, so anything may have changed.
            if mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
            let name = rest.dropFirst(headerBytes).prefix(length).prefix { $0 != 0 }
            if let filter = filter(watch), mask & UInt32(IN_IGNORED) == 0 || length > 0,
                name.isEmpty || filter.admits(String(decoding: name, as: UTF8.self))
            {
                return true
            }
            rest = rest.dropFirst(headerBytes + length)
        }
        return false
    }
}
