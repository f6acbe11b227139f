// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Synchronization

/// The content that extensions did not index, in a file in the store, so that `status` can report
/// it from the first command on. The process that changes the store writes the file. If the file
/// cannot be read or written, only these reports are missing.
///
/// May be used from any thread. ``take(_:)`` and ``begin(_:)`` never wait for the disk.
final class OmissionStore: Sendable {
    /// The scope of a request to an extension.
    enum Scope: Sendable {
        /// All items, from the beginning. The omissions of earlier requests are obsolete.
        case everything
        /// A further part of all items, such as the next page. The omissions of the earlier parts
        /// are kept.
        case rest
        /// Items or files with these names.
        case names([String])
    }

    private struct Document: ChecksummedDocument {
        var bundles: [String: Omissions]
        var checksum: UInt32?
    }

    /// The omissions that running requests have reported so far.
    private let said = Mutex<[String: Omissions]>([:])
    /// The omissions of successful requests; `nil` until the file is read. The lock is held while
    /// the file is read and written.
    private let known = Mutex<[String: Omissions]?>(nil)
    private let file: StoreFile
    private let isWritable: Bool

    static let fileName = "omissions.json"
    /// The maximum number of bundles, and the maximum size of the file in bytes. With the bounds of
    /// ``Omissions``, a file with that many bundles stays below the maximum size.
    static let maximumBundles = 256
    private static let maximumBytes = 64 << 20

    init(directory: String, isWritable: Bool) {
        self.isWritable = isWritable
        file = StoreFile(path: directory + "/" + Self.fileName, maximumBytes: Self.maximumBytes)
    }

    /// The omissions by bundle. The first access reads the file.
    var bundles: [String: Omissions] { known.withLock { read(&$0) } }

    /// Records the start of a request. Discards the reports of an earlier request that failed.
    func begin(_ bundle: String) { said.withLock { $0[bundle] = nil } }

    /// Records the omissions that an event reports.
    func take(_ event: ExtensionEvent) {
        switch event {
        case .leftOut(let bundle, let what):
            said.withLock { said in
                guard said[bundle] != nil || said.count < Self.maximumBundles else { return }
                said[bundle, default: Omissions()].add(what)
            }
        // The next responder reports everything again.
        case .retrying(let bundle, _): begin(bundle)
        default: break
        }
    }

    /// Records the success of a request or of one of its pages. Its reports replace the earlier
    /// reports about the same items.
    func settle(_ bundle: String, _ scope: Scope) {
        let said = said.withLock { $0.removeValue(forKey: bundle) } ?? Omissions()
        change { bundles in
            var known = bundles[bundle] ?? Omissions()
            switch scope {
            case .everything: known = said
            case .rest: known.add(said)
            case .names(let names):
                known.remove(names)
                known.addNamed(said)
            }
            guard bundles[bundle] != nil || bundles.count < Self.maximumBundles else { return }
            bundles[bundle] = known.isEmpty ? nil : known
        }
    }

    /// Removes everything about a bundle.
    func forget(_ bundle: String) { change { $0[bundle] = nil } }

    private func change(_ body: (inout [String: Omissions]) -> Void) {
        known.withLock { known in
            let before = read(&known)
            var bundles = before
            body(&bundles)
            known = bundles
            guard isWritable, bundles != before, let data = try? Document(bundles: bundles).encoded() else { return }
            // Not synced to disk: a crash may lose the last reports.
            try? file.replace(with: data, isSynchronized: false)
        }
    }

    private func read(_ known: inout [String: Omissions]?) -> [String: Omissions] {
        if let known { return known }
        var bundles: [String: Omissions] = [:]
        if case .bytes(let data) = file.read(), let document = try? JSONDecoder().decode(Document.self, from: data),
            document.bundles.count <= Self.maximumBundles, document.hasRightChecksum
        {
            bundles = document.bundles.filter(\.value.isBounded)
        }
        known = bundles
        return bundles
    }
}
