// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Previews
import UserSearch

/// A result that the desktop displays: an item with the details for which a row has room. Texts are
/// plain, single-line and limited in length. Both desktops escape them before they add markup, so
/// they are not escaped here.
package struct DesktopResult: Hashable, Sendable {
    /// The identifier.
    package let identifier: ResultIdentifier
    /// The title; never empty.
    package let title: String
    /// The user-visible name of the item's app.
    package let app: String
    /// A passage of the item's text. If it has none, or only its title, the kind and the path or
    /// the URL of the item.
    package let detail: String
    /// The icon for the item's kind.
    package let icon: ResultIcon
    /// The kind of match.
    package let fit: Fit
    /// The possible actions in addition to opening.
    package let actions: [ResultAction]

    /// The maximum length of a title, a passage and the name of an app, in characters.
    private static let (titleLength, detailLength, appLength) = (160, 200, 60)

    /// Creates a result.
    ///
    /// - Parameters:
    ///   - title, app, detail, kind, place: Unchecked texts from the item's app.
    ///   - contentType: The uniform type identifier of the item's content.
    ///   - isFile: `true` if the item is a file on this machine.
    ///   - quickActions: Additional actions that the item offers.
    package init(
        item: Int64, title: String, app: String, detail: String?, kind: String? = nil, place: String? = nil,
        contentType: String?, fit: Fit = .text, isFile: Bool = false, quickActions: [ResultAction] = []
    ) {
        identifier = ResultIdentifier(item: item)
        let line = DisplayText.line(title, limit: Self.titleLength)
        // GNOME Shell drops all results from a provider if one of them has no title.
        self.title = line.isEmpty ? "Untitled" : line
        self.app = DisplayText.line(app, limit: Self.appLength)
        let passage = detail.map { DisplayText.line($0, limit: Self.detailLength) } ?? ""
        let facts = [kind, place].compactMap { $0.flatMap { $0.isEmpty ? nil : $0 } }.joined(separator: " · ")
        self.detail =
            passage.isEmpty || passage == line ? DisplayText.line(facts, limit: Self.detailLength) : passage
        icon = ResultIcon(contentType: contentType)
        self.fit = fit
        actions = (isFile ? [.copy, .showInFolder] : [.copy]) + quickActions
    }
}

/// An action on a result, in addition to opening it.
package enum ResultAction: String, Hashable, Sendable, CaseIterable {
    /// Copies the file's path, the URL, or else the title.
    case copy
    /// Shows the file in the file manager.
    case showInFolder = "show-in-folder"
    /// Calls the item's phone number.
    case call
    /// Shows the item's position on a map.
    case navigate

    /// The user-visible name.
    var label: String {
        switch self {
        case .copy: "Copy"
        case .showInFolder: "Show in Folder"
        case .call: "Call"
        case .navigate: "Show on Map"
        }
    }

    /// The name in the icon theme.
    var icon: String {
        switch self {
        case .copy: "edit-copy"
        case .showInFolder: "document-open-folder"
        case .call: "call-start"
        case .navigate: "find-location"
        }
    }
}
