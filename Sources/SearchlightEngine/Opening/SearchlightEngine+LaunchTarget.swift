// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ExtensionHost
import Glibc
import ItemRecord
import Previews
import SearchIndex

extension SearchlightEngine {
    /// Returns the facts that determine which app opens an item. Reads files, which may block.
    ///
    /// The file of an extension's item is only used if the extension may read the file. Otherwise
    /// an extension could make the user open any file.
    package func launchTarget(of item: StoredItem) -> LaunchTarget {
        let bundle = item.scope.bundle
        let installed = registry.extensions.first { $0.identifier == bundle }
        let declared = installed?.manifest.access.desktopEntry
        let (resource, refusal) = resource(of: item.record, installed)
        return LaunchTarget(
            bundle: bundle, bundleName: displayName(of: bundle), identifier: item.record.uniqueIdentifier,
            title: item.displayTitle, desktopEntry: declared ?? bundle + ".desktop",
            ownsEntry: declared == nil || installed?.manifest.ownsDesktopEntry == true,
            activity: .item(item.record.uniqueIdentifier), resource: resource, refusal: refusal,
            contentType: item.contentType
        ).continuing(installed?.manifest.continuesActivities == true)
    }

    /// Returns the facts that determine how a bundle's app continues a search.
    package func launchTarget(ofSearch text: String, in bundle: String) -> LaunchTarget {
        let manifest = registry.extensions.first { $0.identifier == bundle }?.manifest
        return LaunchTarget(
            bundle: bundle, bundleName: displayName(of: bundle), identifier: "", title: text,
            desktopEntry: manifest?.access.desktopEntry ?? bundle + ".desktop",
            ownsEntry: manifest?.access.desktopEntry == nil || manifest?.ownsDesktopEntry == true,
            activity: .search(text)
        ).continuing(manifest?.continuesActivities == true)
    }

    /// The environment of the engine's process.
    package var environment: [String: String] { configuration.worker.environment }

    /// The store's folder.
    package var storeDirectory: String { configuration.storeDirectory }

    private func resource(
        of record: ItemRecord, _ installed: ExtensionBundle?
    ) -> (LaunchResource?, LaunchTarget.Refusal?) {
        var refusal: LaunchTarget.Refusal?
        if let path = record.contentPath {
            do throws(LaunchTarget.Refusal) { return (.file(try readable(path, installed)), nil) } catch {
                refusal = error
            }
        }
        let url = ["contentURL", "url"].lazy.compactMap { record.text($0) }.compactMap { LaunchResource(url: $0) }.first
        if let url { return (url, nil) }
        // An item without a URL may have only the path of its file.
        if refusal == nil, let path = record.text("path"), !path.isEmpty {
            do throws(LaunchTarget.Refusal) {
                guard path.utf8.first == UInt8(ascii: "/") else { throw .malformed(path) }
                return (.file(try readable(path, installed)), nil)
            } catch {
                refusal = error
            }
        }
        return (nil, refusal)
    }

    private func readable(_ path: String, _ installed: ExtensionBundle?) throws(LaunchTarget.Refusal) -> String {
        var found = path
        if let installed {
            var workers = configuration.workers
            workers.sandbox = .enforced
            let policy = SandboxPolicy(installed, workers, temporaryFolder: nil)
            guard let followed = try? FollowedPath(path) else { throw .malformed(path) }
            guard followed.isThere else { throw .missing(path) }
            guard policy.allowsReading(followed.path) else {
                throw .notReadable(path, bundle: installed.identifier)
            }
            // The extension could replace a link in the path afterwards.
            found = followed.path
        }
        var status = stat()
        guard !found.utf8.contains(0), stat(found, &status) == 0 else { throw .missing(path) }
        guard [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { throw .special(path) }
        return found
    }
}

/// Collects the facts that determine which app opens an item. The caller opens it with its own
/// rights, session and display.
///
/// ```swift
/// let target = try await store.perform(LaunchTargetCall(item: 12))
/// ```
package struct LaunchTargetCall: EngineCall {
    package var need: EngineNeed { .userReading }
    package var purpose: String { "say what opens an item" }
    /// The number of the item.
    var item: Int64
    /// An action instead of opening the item.
    var action: QuickAction?

    package init(item: Int64, action: QuickAction? = nil) { (self.item, self.action) = (item, action) }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> LaunchTarget {
        let item = try await engine.item(number: item)
        guard let action else { return engine.launchTarget(of: item).seen(by: context) }
        guard let target = engine.launchTarget(of: item, for: action) else {
            throw .service(
                .refused(
                    during: "perform the action \(action.rawValue)",
                    reason: "“\(item.displayTitle)” does not offer this action"))
        }
        return target
    }
}

/// Collects the facts that determine how a bundle's app continues a search.
package struct SearchTargetCall: EngineCall {
    package var purpose: String { "say what continues a search" }
    var text: String
    var bundle: String

    package init(text: String, bundle: String) { (self.text, self.bundle) = (text, bundle) }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> LaunchTarget {
        engine.launchTarget(ofSearch: text, in: bundle).seen(by: context)
    }
}

extension LaunchTarget {
    fileprivate func continuing(_ continues: Bool) -> LaunchTarget {
        var target = self
        target.continues = continues
        return target
    }

    /// Returns the target, completed with the service's list of running apps.
    fileprivate func seen(by context: CallContext) -> LaunchTarget {
        guard let activities = context.service?.activities() else { return self }
        var target = self
        target.hasHandler = activities.hasHandler(of: bundle)
        target.canHold = true
        return target
    }
}
