// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The apps whose items the desktop's own search may show. The user can switch off individual apps,
/// for example because the desktop shows results while others can see the screen.
package struct DesktopVisibility: Hashable, Sendable, Codable {
    /// The bundle identifiers of the apps that are switched off.
    package private(set) var hiddenBundles: Set<String> = []
    /// `false` if the stored settings cannot be read. The desktop then shows nothing, because any
    /// app may be switched off.
    package var isKnown = true

    /// The maximum number of apps that can be switched off.
    package static let maximumBundles = 1000

    /// The maximum length of a bundle identifier in bytes.
    static let maximumBytes = 1024

    /// Creates a visibility that shows every app.
    package init() {}

    init?(hidden: [String]) {
        guard hidden.count <= Self.maximumBundles, hidden.allSatisfy({ $0.utf8.count <= Self.maximumBytes }) else {
            return nil
        }
        hiddenBundles = Set(hidden)
    }

    /// Returns `true` if the desktop may show the items of a bundle.
    package func shows(_ bundle: String) -> Bool { isKnown && !hiddenBundles.contains(bundle) }

    /// Returns the visibility after an app is switched on or off; `nil` if too many apps are off.
    func setting(_ bundle: String, isShown: Bool) -> DesktopVisibility? {
        var changed = self
        changed.isKnown = true
        if isShown {
            changed.hiddenBundles.remove(bundle)
        } else {
            changed.hiddenBundles.insert(bundle)
        }
        return changed.hiddenBundles.count <= Self.maximumBundles ? changed : nil
    }
}

/// The store's file with the apps that are switched off in the desktop's search. The process that
/// changes the store writes it. May be used from any thread; the first use reads the file.
final class DesktopVisibilityFile: Sendable {
    private struct Document: ChecksummedDocument {
        var hidden: [String]
        var checksum: UInt32?
    }

    static let fileName = "desktop.json"
    private static let maximumBytes = 2 << 20

    private let file: StoreFile
    /// `nil` until the file is read. The lock is held while the file is read and written.
    private let known = Mutex<DesktopVisibility?>(nil)

    init(directory: String) {
        file = StoreFile(path: directory + "/" + Self.fileName, maximumBytes: Self.maximumBytes)
    }

    /// The current visibility.
    var current: DesktopVisibility { known.withLock { read(&$0) } }

    /// Switches an app on or off. The change is durable on return.
    ///
    /// - Returns: `true` if this changed the app's setting, or if the file was unreadable.
    /// - Throws: ``EngineError`` if the file cannot be written or too many apps are off.
    func set(_ bundle: String, isShown: Bool) throws(EngineError) -> Bool {
        let result: Result<Bool, EngineError> = known.withLock { known in
            let before = read(&known)
            guard let changed = before.setting(bundle, isShown: isShown) else {
                let reason = "\(DesktopVisibility.maximumBundles) apps are off, which is the limit. Switch one on"
                return .failure(.service(.refused(during: "switch an app off", reason: reason)))
            }
            guard changed != before else { return .success(false) }
            do {
                let document = Document(hidden: changed.hiddenBundles.sorted())
                // An unreadable file is kept, since it contains the user's earlier choices.
                try file.replace(with: try document.encoded(), settingAside: !before.isKnown)
            } catch {
                return .failure(
                    .storeFile(path: file.path, operation: "Writing the switches of apps", detail: "\(error)"))
            }
            known = changed
            return .success(true)
        }
        return try result.get()
    }

    private func read(_ known: inout DesktopVisibility?) -> DesktopVisibility {
        if let known { return known }
        var visibility = DesktopVisibility()
        switch file.read() {
        case .missing: break
        case .unreadable: visibility.isKnown = false
        case .bytes(let data):
            if let document = try? JSONDecoder().decode(Document.self, from: data), document.hasRightChecksum,
                let stored = DesktopVisibility(hidden: document.hidden)
            {
                visibility = stored
            } else {
                visibility.isKnown = false
            }
        }
        known = visibility
        return visibility
    }
}

extension SearchlightEngine {
    /// The apps whose items the desktop's own search may show.
    package var desktopVisibility: DesktopVisibility { desktop.current }

    /// Switches an app on or off in the desktop's own search; see ``SetDesktopVisibilityCall``.
    func setDesktopVisibility(of bundle: String, isShown: Bool) throws(EngineError) -> Bool {
        guard !bundle.isEmpty, bundle.utf8.count <= DesktopVisibility.maximumBytes else {
            let reason = "\(bundle.prefix(80).debugDescription) is not a bundle identifier"
            throw .service(.refused(during: "switch an app", reason: reason))
        }
        return try desktop.set(bundle, isShown: isShown)
    }
}

/// Lists the apps that are switched off in the desktop's own search.
///
/// ```swift
/// let visibility = try await store.perform(DesktopVisibilityCall())
/// visibility.shows("com.example.notes")
/// ```
package struct DesktopVisibilityCall: EngineCall {
    package var purpose: String { "list what the desktop shows" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> DesktopVisibility {
        engine.desktopVisibility
    }
}

/// Switches an app on or off in the desktop's own search. Its items stay in the index. Returns
/// `true` if this changed the app's setting.
package struct SetDesktopVisibilityCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { isShown ? "show an app in the desktop's search" : "hide an app there" }
    var bundle: String
    var isShown: Bool

    package init(bundle: String, isShown: Bool) { (self.bundle, self.isShown) = (bundle, isShown) }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Bool {
        try engine.setDesktopVisibility(of: bundle, isShown: isShown)
    }
}
