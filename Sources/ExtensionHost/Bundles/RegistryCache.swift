// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemSupport

/// A cache of bundles, so that an unchanged bundle is neither read nor parsed again.
///
/// It stores the values of the manifest, and that the library passed its check. The key consists of
/// the device, inode, size and times of both files.
///
/// The cache file is untrusted, like a manifest: its values undergo the same checks again. A file
/// that is damaged or has a different format is ignored and replaced. Ownership and write access
/// are never cached. May be used from any thread.
public final class RegistryCache: Sendable {
    /// The cached facts of one bundle.
    struct Entry: Sendable {
        var manifestStamp: FileStamp
        var libraryStamp: FileStamp
        /// The digest of the manifest's bytes.
        var digest: UInt64
        /// `true` if the stamps are reliable. A file that changed just before it was read may
        /// change again within the same tick of the file system's clock.
        var isSettled = false
        /// The manifest's values in the encoding of ``PropertyValue``.
        var encoded: ArraySlice<UInt8>
        /// The manifest, if it was parsed in this process.
        var manifest: ExtensionManifest?

        /// The coarsest clock of a supported file system (FAT), in nanoseconds.
        private static let tick: Int64 = 2_000_000_000

        init(
            manifestStamp: FileStamp, libraryStamp: FileStamp, digest: UInt64, values: PropertyValue,
            manifest: ExtensionManifest
        ) {
            self.manifestStamp = manifestStamp
            self.libraryStamp = libraryStamp
            self.digest = digest
            var bytes: [UInt8] = []
            values.encode(to: &bytes)
            encoded = bytes[...]
            self.manifest = manifest
        }

        func with(_ manifest: ExtensionManifest) -> Entry {
            var entry = self
            entry.manifest = manifest
            return entry
        }

        /// Returns the manifest, or `nil` if the cached values are not a valid manifest.
        func readManifest() -> ExtensionManifest? {
            if let manifest { return manifest }
            guard let values = try? PropertyValue(decoding: encoded) else { return nil }
            return try? ExtensionManifest(values)
        }

        func isOld(at now: Int64) -> Bool {
            let latest = max(manifestStamp.changed, libraryStamp.changed)
            return latest <= now && now - latest > Self.tick
        }

        func isSame(as other: Entry?) -> Bool {
            guard let other else { return false }
            return manifestStamp == other.manifestStamp && libraryStamp == other.libraryStamp
                && digest == other.digest && isSettled == other.isSettled
        }
    }
    private struct State {
        var entries: [String: Entry] = [:]
        var isChanged = false
    }
    private let state: Mutex<State>
    private let path: String?
    private let isWritable: Bool

    /// The maximum number of cached bundles. Further bundles are read each time.
    static let maximumEntries = 4096
    private static let maximumBytes = 64 << 20
    private static let magic = Array("SLREGC01".utf8)

    /// Reads a cache. If the file is missing, damaged or owned by another user, the cache is empty.
    ///
    /// - Parameters:
    ///   - path: The path of the file; `nil` for a cache in memory only.
    ///   - isWritable: `true` if ``save()`` writes the file.
    public init(path: String?, isWritable: Bool = true) {
        self.path = path
        self.isWritable = isWritable && path != nil
        let entries = path.flatMap(Self.read).flatMap(Self.decode) ?? [:]
        state = Mutex(State(entries: entries))
    }

    /// The number of cached bundles.
    public var count: Int { state.withLock { $0.entries.count } }

    func entries() -> [String: Entry] { state.withLock { $0.entries } }

    /// Replaces the entries of the bundles in these directories with the results of a search.
    func replace(_ entries: [String: Entry], in directories: Set<String>) {
        state.withLock { state in
            let kept = state.entries.filter { path, _ in
                path.lastIndex(of: "/").map { !directories.contains(String(path[..<$0])) } ?? false
            }
            var new = kept.merging(entries) { $1 }
            for path in new.keys.sorted().dropFirst(Self.maximumEntries) { new[path] = nil }
            let isSame =
                new.count == state.entries.count && new.allSatisfy { $0.value.isSame(as: state.entries[$0.key]) }
            state.isChanged = state.isChanged || !isSame
            state.entries = new
        }
    }

    /// Writes the file if any entry has changed. Write errors are ignored, because the cache is
    /// optional.
    public func save() {
        guard isWritable, let path else { return }
        let entries: [String: Entry]? = state.withLock { state in
            defer { state.isChanged = false }
            return state.isChanged ? state.entries : nil
        }
        guard let entries else { return }
        let bytes = Self.encode(entries)
        guard bytes.count <= Self.maximumBytes else { return }
        let temporary = path + ".new"
        unlink(temporary)
        let number = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return }
        let file = OwnedDescriptor(adopting: number)
        let written = bytes.withUnsafeBytes { WholeTransfer.write($0, to: file.number) }
        // The file is not synced to disk. Its checksum detects a file that a crash has truncated.
        if (try? written.get()) == nil || rename(temporary, path) != 0 { unlink(temporary) }
    }

    // MARK: The file: the magic bytes, a digest of the rest, the number of entries, the entries

    static func encode(_ entries: [String: Entry]) -> [UInt8] {
        var body: [UInt8] = []
        body.append(length: entries.count)
        for (path, entry) in entries.sorted(by: { $0.key < $1.key }) {
            body.append(counted: path.utf8)
            entry.manifestStamp.encode(to: &body)
            entry.libraryStamp.encode(to: &body)
            body.append(number: entry.digest)
            body.append(entry.isSettled ? 1 : 0)
            body.append(counted: entry.encoded)
        }
        var bytes = magic
        bytes.append(number: Digest.of(body))
        return bytes + body
    }

    static func decode(_ bytes: [UInt8]) -> [String: Entry]? {
        var reader = ByteReader(bytes[...])
        guard let start = try? reader.take(magic.count), start.elementsEqual(magic), let digest = try? reader.number(),
            Digest.of(bytes[(magic.count + 8)...]) == digest
        else { return nil }
        return try? entries(&reader)
    }

    private static func entries(_ reader: inout ByteReader) throws(PropertyValue.Malformed) -> [String: Entry] {
        let count = try reader.length()
        guard count <= maximumEntries else { throw PropertyValue.Malformed() }
        var entries: [String: Entry] = [:]
        for _ in 0..<count {
            let path = try reader.text()
            let entry = try Entry(&reader)
            guard path.hasPrefix("/"), path.utf8.count <= Int(PATH_MAX), entries.updateValue(entry, forKey: path) == nil
            else { throw PropertyValue.Malformed() }
        }
        guard reader.isAtEnd else { throw PropertyValue.Malformed() }
        return entries
    }

    private static func read(_ path: String) -> [UInt8]? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & (S_IWGRP | S_IWOTH) == 0, status.st_size <= maximumBytes
        else { return nil }
        let size = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = (try? WholeTransfer.read(file.number, into: UnsafeMutableRawBufferPointer(buffer)).get()) ?? 0
        }
        return bytes.count == size ? bytes : nil
    }
}

extension RegistryCache.Entry {
    fileprivate init(_ reader: inout ByteReader) throws(PropertyValue.Malformed) {
        manifestStamp = try FileStamp(&reader)
        libraryStamp = try FileStamp(&reader)
        digest = try reader.number()
        isSettled = try reader.byte() == 1
        encoded = try reader.counted()
        manifest = nil
    }
}
