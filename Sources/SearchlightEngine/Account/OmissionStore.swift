// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Synchronization

/// The content that extensions left out of the index, in a file of the store, so that the first
/// command of a process can report it. The process with write access writes the file. If the file
/// cannot be read or written, only these reports are missing.
final class OmissionStore: Sendable {
    /// The scope of a request to an extension.
    enum Scope: Sendable {
        /// All items. Its reports replace all earlier reports.
        case everything
        /// The rest of all items, after an interruption.
        case rest
        /// Items or files with these names.
        case names([String])
    }

    private struct State {
        var bundles: [String: Omissions]
        /// The reports during the requests in progress.
        var said: [String: Omissions] = [:]
    }

    private struct Document: ChecksummedDocument {
        var bundles: [String: Omissions]
        var checksum: UInt32?
    }

    private let state: Mutex<State>
    private let file: StoreFile
    private let isWritable: Bool

    static let fileName = "omissions.json"
    /// The maximum number of stored bundles.
    private static let maximumBundles = 256
    /// The maximum size of the file in bytes.
    private static let maximumBytes = 64 << 20

    init(directory: String, isWritable: Bool) {
        self.isWritable = isWritable
        file = StoreFile(path: directory + "/" + Self.fileName, maximumBytes: Self.maximumBytes)
        var known: [String: Omissions] = [:]
        if case .bytes(let data) = file.read(), let document = try? JSONDecoder().decode(Document.self, from: data),
            document.hasRightChecksum
        {
            known = document.bundles.filter(\.value.isBounded)
        }
        state = Mutex(State(bundles: known))
    }

    /// The omissions of each bundle that has any.
    var bundles: [String: Omissions] { state.withLock { $0.bundles } }

    /// Begins a request, and drops the reports of an earlier request that failed.
    func begin(_ bundle: String) { state.withLock { $0.said[bundle] = nil } }

    /// Records the omission that an event reports.
    func take(_ event: ExtensionEvent) {
        guard case .leftOut(let bundle, let what) = event else { return }
        state.withLock { state in
            guard state.said[bundle] != nil || state.said.count < Self.maximumBundles else { return }
            state.said[bundle, default: Omissions()].add(what)
        }
    }

    /// Ends a request that succeeded. Its reports replace the earlier reports in its scope.
    func settle(_ bundle: String, _ scope: Scope) {
        change { state in
            let said = state.said.removeValue(forKey: bundle) ?? Omissions()
            var known = state.bundles[bundle] ?? Omissions()
            switch scope {
            case .everything: known = said
            case .rest: known.add(said)
            case .names(let names):
                known.remove(names)
                known.add(said)
            }
            guard state.bundles[bundle] != nil || state.bundles.count < Self.maximumBundles else { return }
            state.bundles[bundle] = known.isEmpty ? nil : known
        }
    }

    /// Removes the omissions of a bundle.
    func forget(_ bundle: String) { change { $0.bundles[bundle] = nil } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            let before = state.bundles
            body(&state)
            guard isWritable, state.bundles != before,
                let data = try? Document(bundles: state.bundles).encoded()
            else { return }
            // Not synchronized: a crash may lose the latest reports.
            try? file.replace(with: data, isSynchronized: false)
        }
    }
}
