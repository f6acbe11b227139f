// SPDX-License-Identifier: Apache-2.0

/// What was taken out of an extension's preview, for the person who looks at it and the author who wonders.
public struct Removal: Hashable, Sendable, Codable {
    /// What kind of thing.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Something that runs.
        case script, eventHandler
        /// Something that asks, or that has content of its own.
        case form, frame, plugin, drawing, media
        /// A load from a network, a stylesheet's too.
        case remoteLoad
        /// An address of a file of this machine.
        case fileReference
        /// An address of a scheme that a link may not have.
        case link
        /// An address that leads from where the original is, as the one of another file beside it.
        case relativeLink
        /// What leads elsewhere by itself, or changes what addresses mean.
        case redirect, base
        /// A rule or property of a style.
        case style
        /// A picture that is none, or whose bytes are of no type that is shown.
        case unusablePicture
        /// A picture whose header claims more pixels than are drawn.
        case hugePicture
        /// A reference to an attachment that did not come.
        case missingAttachment
        /// An attachment of another type than it was declared; shown all the same if it is a picture.
        case mistypedAttachment
        /// Elements within elements beyond ``HTMLSanitizer/maximumDepth``; their text stays.
        case nesting
        /// What did not fit any more.
        case overflow
        /// What no list knows.
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
                ("attachment of another type than declared", "attachments of other types than declared")
            case .nesting: ("element nested too deeply", "elements nested too deeply")
            case .overflow: ("part without room", "parts without room")
            case .element: ("unknown element", "unknown elements")
            case .attribute: ("attribute", "attributes")
            }
        }
    }

    /// What it was.
    public var kind: Kind
    /// How many of them.
    public var count: Int
    /// The first of them on one line, at most ``maximumExampleCharacters`` long.
    public var example: String

    /// Creates a removal.
    public init(kind: Kind, count: Int, example: String) {
        self.kind = kind
        self.count = count
        self.example = example
    }

    /// The longest example, in characters.
    public static let maximumExampleCharacters = 120

    /// All in words: 2 scripts, 1 remote load. `nil` if nothing was removed.
    public static func summary(of removals: [Removal]) -> String? {
        guard !removals.isEmpty else { return nil }
        return removals.map { "\($0.count) \($0.count == 1 ? $0.kind.words.one : $0.kind.words.many)" }
            .joined(separator: ", ")
    }
}

/// Counts removals.
struct RemovalTally {
    private var found: [Removal.Kind: Removal] = [:]

    /// Counts more; the example is kept of the first of its kind.
    mutating func note(_ kind: Removal.Kind, _ count: Int = 1, example: ArraySlice<UInt8>) {
        if found[kind] != nil {
            found[kind]?.count += count
        } else {
            // A character has at most so many bytes that matter here; a part of one becomes U+FFFD.
            let text = String(decoding: example.prefix(4 * Removal.maximumExampleCharacters), as: UTF8.self)
            found[kind] = Removal(
                kind: kind, count: count, example: DisplayText.line(text, limit: Removal.maximumExampleCharacters))
        }
    }

    mutating func note(_ kind: Removal.Kind, _ count: Int = 1, name: String) {
        note(kind, count, example: Array(name.utf8)[...])
    }

    /// In the order of ``Removal/Kind``.
    var removals: [Removal] { Removal.Kind.allCases.compactMap { found[$0] } }
}
