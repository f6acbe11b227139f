// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Synchronization

/// What extensions left out of the index, kept in a file of the store, so that it is told from the first command on. The process
/// that changes the store writes it; a file that cannot be read or written costs the telling only.
final class OmissionStore: Sendable {
    /// What a request of an extension is about.
    enum Scope: Sendable {
        /// Everything; what was said before counts no more.
        case everything
        /// What is left of everything.
        case rest
        /// Items or files with these names.
        case names([String])
    }

    private struct State {
        var bundles: [String: Omissions]
        /// What was said during the requests under way.
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
    /// The most bundles that are kept, and the largest file, in bytes.
    private static let maximumBundles = 256
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

    /// What is known of each bundle of which anything is.
    var bundles: [String: Omissions] { state.withLock { $0.bundles } }

    /// A request begins; what a failed one before has said counts no more.
    func begin(_ bundle: String) { state.withLock { $0.said[bundle] = nil } }

    /// Takes what an event says is left out.
    func take(_ event: ExtensionEvent) {
        guard case .leftOut(let bundle, let what) = event else { return }
        state.withLock { state in
            guard state.said[bundle] != nil || state.said.count < Self.maximumBundles else { return }
            state.said[bundle, default: Omissions()].add(what)
        }
    }

    /// A request has succeeded: what was said during it takes the place of what was said of the same before.
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

    /// Nothing is known of a bundle any more.
    func forget(_ bundle: String) { change { $0.bundles[bundle] = nil } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            let before = state.bundles
            body(&state)
            guard isWritable, state.bundles != before,
                let data = try? Document(bundles: state.bundles).encoded()
            else { return }
            // Not synchronized: a crash may cost what was told last.
            try? file.replace(with: data, isSynchronized: false)
        }
    }
}
