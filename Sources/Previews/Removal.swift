// SPDX-License-Identifier: Apache-2.0

/// A kind of part that was removed from an extension's preview, reported to the user and the
/// author.
public struct Removal: Hashable, Sendable, Codable {
    /// The kind of a removed part.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Code.
        case script, eventHandler
        /// An input element, or an element that embeds other content.
        case form, frame, plugin, drawing, media
        /// A resource that would be loaded from the network, including by a stylesheet.
        case remoteLoad
        /// The address of a file on this machine.
        case fileReference
        /// A link whose scheme is not allowed.
        case link
        /// An address relative to the original file, such as the name of a file in the same folder.
        case relativeLink
        /// An automatic redirect, or a change of the base address.
        case redirect, base
        /// A rule or property in a style.
        case style
        /// An invalid picture, or one in an unsupported format.
        case unusablePicture
        /// A picture whose header claims too many pixels.
        case hugePicture
        /// A reference to an attachment that is not in the reply.
        case missingAttachment
        /// An attachment whose content does not match its declared type. It is still shown if it is
        /// a picture.
        case mistypedAttachment
        /// Elements that are nested more deeply than ``HTMLSanitizer/maximumDepth``; their text is
        /// kept.
        case nesting
        /// Content beyond the size limit.
        case overflow
        /// An unknown element or attribute.
        case element, attribute

        fileprivate var words: (one: String, many: String) {
            switch self {
            case .script: ("script", "scripts")
            case .eventHandler: ("event handler", "event handlers")
            case .form: ("form element", "form elements")
            case .frame: ("frame", "frames")
            case .plugin: ("embedded object", "embedded objects")
            case .drawing: ("drawing or formula", "drawings or formulas")
            case .media: ("sound or film", "sounds or films")
            case .remoteLoad: ("remote load", "remote loads")
            case .fileReference: ("reference to a file", "references to files")
            case .link: ("unsafe link", "unsafe links")
            case .relativeLink: ("relative link", "relative links")
            case .redirect: ("redirect", "redirects")
            case .base: ("base address", "base addresses")
            case .style: ("style", "styles")
            case .unusablePicture: ("unusable picture", "unusable pictures")
            case .hugePicture: ("picture with too many pixels", "pictures with too many pixels")
            case .missingAttachment: ("missing attachment", "missing attachments")
            case .mistypedAttachment:
                ("attachment that does not have its declared type", "attachments that do not have their declared type")
            case .nesting: ("element nested too deeply", "elements nested too deeply")
            case .overflow: ("part without room", "parts without room")
            case .element: ("unknown element", "unknown elements")
            case .attribute: ("attribute", "attributes")
            }
        }
    }

    /// The kind.
    public var kind: Kind
    /// The number of removed parts.
    public var count: Int
    /// The first removed part, on one line, at most ``maximumExampleCharacters`` long.
    public var example: String

    /// Creates a removal.
    public init(kind: Kind, count: Int, example: String) {
        self.kind = kind
        self.count = count
        self.example = example
    }

    /// The maximum length of an example, in characters.
    public static let maximumExampleCharacters = 120

    /// Returns all removals as text, such as “2 scripts, 1 remote load”; `nil` if there are none.
    public static func summary(of removals: [Removal]) -> String? {
        guard !removals.isEmpty else { return nil }
        return removals.map { "\($0.count) \($0.count == 1 ? $0.kind.words.one : $0.kind.words.many)" }
            .joined(separator: ", ")
    }
}

/// Counts removals.
struct RemovalTally {
    private var found: [Removal.Kind: Removal] = [:]

    /// Counts removals. Only the first example of each kind is kept.
    mutating func note(_ kind: Removal.Kind, _ count: Int = 1, example: ArraySlice<UInt8>) {
        if found[kind] != nil {
            found[kind]?.count += count
        } else {
            // Four bytes per character are enough. A truncated character becomes U+FFFD.
            let text = String(decoding: example.prefix(4 * Removal.maximumExampleCharacters), as: UTF8.self)
            found[kind] = Removal(
                kind: kind, count: count, example: DisplayText.line(text, limit: Removal.maximumExampleCharacters))
        }
    }

    mutating func note(_ kind: Removal.Kind, _ count: Int = 1, name: String) {
        note(kind, count, example: Array(name.utf8)[...])
    }

    /// The removals in the order of ``Removal/Kind``.
    var removals: [Removal] { Removal.Kind.allCases.compactMap { found[$0] } }
}
