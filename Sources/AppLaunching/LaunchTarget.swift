// SPDX-License-Identifier: Apache-2.0

/// The facts about an item that determine which app opens it. The engine collects them, and they
/// contain only checked values.
package struct LaunchTarget: Hashable, Sendable, Codable {
    /// The item's bundle.
    package var bundle: String
    /// The user-visible name of the bundle.
    package var bundleName: String
    /// The identifier that the app assigned to the item.
    package var identifier: String
    /// The title, for messages.
    package var title: String
    /// The file name of the app's desktop entry.
    package var desktopEntry: String
    /// `true` if the bundle is named after its desktop entry, so that the entry belongs to it.
    package var ownsEntry: Bool
    /// The item's file or URL.
    package var resource: LaunchResource?
    /// The reason why the item's file may not be opened.
    package var refusal: Refusal?
    /// The item's uniform type identifier.
    package var contentType: String?
    /// The activity for an app that continues activities.
    package var activity: LaunchActivity
    /// `true` if the manifest has `CoreSpotlightContinuation`, so that the app fetches activities
    /// when it is started.
    package var continues = false
    /// `true` if a running app of the bundle has a handler for activities.
    package var hasHandler = false
    /// `true` if an activity can be stored for an app that is being started.
    package var canHold = false

    /// The reason why a file may not be opened.
    package enum Refusal: Error, Hashable, Sendable, Codable, CustomStringConvertible {
        /// There is no file at the path.
        case missing(String)
        /// The bundle's extension may not read the file.
        case notReadable(String, bundle: String)
        /// The path leads to a device, a pipe or a socket.
        case special(String)
        /// The path is not a file path.
        case malformed(String)

        /// The reason, which completes a sentence.
        package var description: String {
            switch self {
            case .missing(let path): "its file \(path) does not exist"
            case .notReadable(let path, let bundle):
                "\(bundle) may not read its file \(path) (ReadablePaths in its Info.plist)"
            case .special(let path): "\(path) is neither a file nor a folder"
            case .malformed(let path): "\(path) is not a path of a file"
            }
        }
    }

    package init(
        bundle: String, bundleName: String, identifier: String, title: String, desktopEntry: String,
        ownsEntry: Bool, activity: LaunchActivity, resource: LaunchResource? = nil, refusal: Refusal? = nil,
        contentType: String? = nil
    ) {
        self.activity = activity
        (self.bundle, self.bundleName, self.identifier, self.title) = (bundle, bundleName, identifier, title)
        (self.desktopEntry, self.ownsEntry) = (desktopEntry, ownsEntry)
        (self.resource, self.refusal, self.contentType) = (resource, refusal, contentType)
    }
}
