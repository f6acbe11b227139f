// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// What a launcher asks, in the types that tools of the session bus know. Each case is one method of the interface
/// `com.searchlight.Search1` (docs/DBUS.md).
public enum LauncherRequest: ClientRequest, Hashable {
    /// The items that contain the words of a text, best first. Answer: `aa{sv}`.
    case search(text: String, LauncherOptions)
    /// Texts that may take the place of a text that is being typed. Answer: `aa{sv}`.
    case suggest(text: String, LauncherOptions)
    /// All about one item. Answer: `a{sv}`.
    case get(number: UInt64)
    /// What an item looks like. Answer: type, title and content.
    case preview(number: UInt64, query: String)
    /// The same, with the content as a file and its length.
    case previewFile(number: UInt64, query: String)
    /// The same with all that is known of it, as one dictionary. Answer: `a{sv}`.
    case getPreview(number: UInt64, query: String)
    /// Why an item is, or is not, on the first page of a search. Answer: `a{sv}`.
    case whyNot(number: UInt64, text: String, LauncherOptions)
    /// The user did something with an item: `open`, `drag` or `preview`. Answer: whether it was counted.
    case engaged(number: UInt64, text: String, kind: String)

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Search1"
    /// A search sees the whole index.
    public static let callers: Set<Caller> = [.shell]
    /// Tools of the session bus never say hello.
    public static let isOpenToBus = true

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case search = "Search"
        case suggest = "Suggest"
        case get = "Get"
        case preview = "Preview"
        case previewFile = "PreviewFile"
        case getPreview = "GetPreview"
        case whyNot = "WhyNot"
        case engaged = "Engaged"
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        guard let method = Method(call.member, of: Self.interface) else { throw .unknownMethod(call.member) }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch method {
        case .search:
            self = .search(text: try arguments.string(), try LauncherOptions(try arguments.dictionary()))
        case .suggest:
            self = .suggest(
                text: try arguments.string(),
                try LauncherOptions(try arguments.dictionary(), of: method.rawValue, allowing: ["limit", "bundle"]))
        case .get: self = .get(number: try arguments.unsigned())
        case .preview: self = .preview(number: try arguments.unsigned(), query: try arguments.string())
        case .previewFile: self = .previewFile(number: try arguments.unsigned(), query: try arguments.string())
        case .getPreview: self = .getPreview(number: try arguments.unsigned(), query: try arguments.string())
        case .whyNot:
            self = .whyNot(
                number: try arguments.unsigned(), text: try arguments.string(),
                try LauncherOptions(
                    try arguments.dictionary(), of: method.rawValue, allowing: ["limit", "bundle", "correctsSpelling"]))
        case .engaged:
            self = .engaged(
                number: try arguments.unsigned(), text: try arguments.string(), kind: try arguments.string())
        }
        try arguments.finish()
    }
}

/// What a launcher may say besides the words.
public struct LauncherOptions: Sendable, Hashable {
    /// At most so many items.
    public var limit: UInt64 = 20
    /// Only items of this bundle.
    public var bundle: String?
    /// The attributes that found items carry besides those they always have.
    public var attributes: [String] = []
    /// Where the page before ended; empty for the first.
    public var cursor: [UInt8] = []
    /// Whether misspelled words are corrected.
    public var correctsSpelling = true

    /// Reads options; one that is not known is an error, for it would change what is found.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ options: [String: BusValue]) throws(BusError) {
        try self.init(
            options, of: "Search", allowing: ["limit", "bundle", "attributes", "cursor", "correctsSpelling"])
    }

    init(_ options: [String: BusValue], of method: String, allowing known: Set<String>) throws(BusError) {
        for (name, value) in options {
            guard known.contains(name) else {
                throw .malformed("\(method) knows no option \(String(name.prefix(64)).debugDescription)")
            }
            switch (name, value) {
            case ("limit", .unsigned(let number)): limit = number
            case ("limit", .unsigned32(let number)): limit = UInt64(number)
            // What tools make of a number without a type.
            case ("limit", .signed32(let number)) where number >= 0: limit = UInt64(number)
            case ("limit", .signed(let number)) where number >= 0: limit = UInt64(number)
            case ("bundle", .string(let text)): bundle = text.nonEmpty
            case ("attributes", .strings(let names)): attributes = names
            case ("cursor", .bytes(let bytes)): cursor = bytes
            case ("correctsSpelling", .boolean(let corrects)): correctsSpelling = corrects
            default: throw .malformed("the option \(name) of \(method) cannot be of type \(value.signature)")
            }
        }
    }
}
