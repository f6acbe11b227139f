// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request from a launcher, with argument types that session bus tools support. Each case is a
/// method of the interface `com.searchlight.Search1` (docs/DBUS.md).
public enum LauncherRequest: ClientRequest, Hashable {
    /// Finds the items that match the words of a text, best first. Answer: `aa{sv}`.
    case search(text: String, LauncherOptions)
    /// Finds the items that are similar to an item, most similar first. Answer: the items as
    /// `aa{sv}`, and how they were found as `a{sv}`.
    case similar(number: UInt64, LauncherOptions)
    /// Suggests completions of a text that the user is typing. Answer: `aa{sv}`.
    case suggest(text: String, LauncherOptions)
    /// Reads all values of an item. Answer: `a{sv}`.
    case get(number: UInt64)
    /// Renders a preview of an item. Answer: type, title and content.
    case preview(number: UInt64, query: String)
    /// Renders a preview of an item. Answer: type, title, and the content as a file with its
    /// length.
    case previewFile(number: UInt64, query: String)
    /// Renders a preview of an item. Answer: all of its values, as `a{sv}`.
    case getPreview(number: UInt64, query: String)
    /// Explains whether an item is on the first page of a search. Answer: `a{sv}`.
    case whyNot(number: UInt64, text: String, LauncherOptions)
    /// Opens an item in its app. Answer: the launch method and the outcome (`a{sv}`).
    case open(number: UInt64, OpenOptions)
    /// Continues a search in a bundle's app. The answer is the same as for ``open(number:_:)``.
    case continueSearch(bundle: String, text: String, OpenOptions)
    /// Reports a use of an item: `open`, `drag` or `preview`. Answer: `true` if the use was
    /// counted.
    case engaged(number: UInt64, text: String, kind: String)

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Search1"
    /// The permitted clients: a search can access the whole index.
    public static let callers: Set<Caller> = [.shell]
    /// Session bus tools never send ``Hello``.
    public static let isOpenToBus = true

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case search = "Search"
        case similar = "Similar"
        case suggest = "Suggest"
        case get = "Get"
        case preview = "Preview"
        case previewFile = "PreviewFile"
        case getPreview = "GetPreview"
        case whyNot = "WhyNot"
        case open = "Open"
        case continueSearch = "Continue"
        case engaged = "Engaged"
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, like ``WorkerRequest/init(_:)``.
    public init(_ call: IncomingCall) throws(BusError) {
        guard let method = Method(call.member, of: Self.interface) else { throw .unknownMethod(call.member) }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch method {
        case .search:
            self = .search(text: try arguments.string(), try LauncherOptions(try arguments.dictionary()))
        case .similar:
            self = .similar(
                number: try arguments.unsigned(),
                try LauncherOptions(
                    try arguments.dictionary(), of: method.rawValue,
                    allowing: ["limit", "bundle", "filters", "attributes"]))
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
        case .open: self = .open(number: try arguments.unsigned(), try OpenOptions(try arguments.dictionary()))
        case .continueSearch:
            self = .continueSearch(
                bundle: try arguments.string(), text: try arguments.string(),
                try OpenOptions(try arguments.dictionary()))
        case .engaged:
            self = .engaged(
                number: try arguments.unsigned(), text: try arguments.string(), kind: try arguments.string())
        }
        try arguments.finish()
    }
}

/// The options of a request from a launcher.
public struct LauncherOptions: Sendable, Hashable {
    /// The maximum number of items.
    public var limit: UInt64 = 20
    /// A bundle to restrict the search to; `nil` means all.
    public var bundle: String?
    /// Filters that similar items must satisfy, written as in a search text.
    public var filters = ""
    /// The attributes of found items to return in addition to the standard values.
    public var attributes: [String] = []
    /// The cursor of the previous page; empty for the first page.
    public var cursor: [UInt8] = []
    /// `true` to correct misspelled words.
    public var correctsSpelling = true

    /// Reads the options. An unknown option is an error, since it could change the result.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ options: [String: BusValue]) throws(BusError) {
        try self.init(
            options, of: "Search", allowing: ["limit", "bundle", "attributes", "cursor", "correctsSpelling"])
    }

    init(_ options: [String: BusValue], of method: String, allowing known: Set<String>) throws(BusError) {
        for (name, value) in options {
            guard known.contains(name) else {
                throw .malformed("\(method) has no option \(String(name.prefix(64)).debugDescription)")
            }
            switch (name, value) {
            case ("limit", .unsigned(let number)): limit = number
            case ("limit", .unsigned32(let number)): limit = UInt64(number)
            // Tools send a number without an explicit type as a signed integer.
            case ("limit", .signed32(let number)) where number >= 0: limit = UInt64(number)
            case ("limit", .signed(let number)) where number >= 0: limit = UInt64(number)
            case ("bundle", .string(let text)): bundle = text.nonEmpty
            case ("filters", .string(let text)): filters = text
            case ("attributes", .strings(let names)): attributes = names
            case ("cursor", .bytes(let bytes)): cursor = bytes
            case ("correctsSpelling", .boolean(let corrects)): correctsSpelling = corrects
            default: throw .malformed("the option \(name) of \(method) cannot be of type \(value.signature)")
            }
        }
    }
}

/// The options of a request from a launcher to open an item or to continue a search.
public struct OpenOptions: Sendable, Hashable {
    /// `true` to choose the launch method without starting anything.
    public var isDryRun = false
    /// The typed text for which the use of the item is counted; empty for none.
    public var query = ""
    /// The action to perform instead of opening (`call` or `navigate`); `nil` opens the item.
    public var action: String?
    /// The environment variables of the launcher's session, passed to started programs.
    public var environment: [String: String] = [:]

    /// The environment variables that a launcher may set.
    private static let variables: Set<String> = [
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_ACTIVATION_TOKEN", "XDG_CURRENT_DESKTOP", "DESKTOP_STARTUP_ID",
    ]
    /// The maximum length of a value in bytes.
    private static let maximumBytes = 4096

    /// The default options.
    public init() {}

    /// Reads the options. An unknown option is an error, since it could change the result.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ options: [String: BusValue]) throws(BusError) {
        for (name, value) in options {
            switch (name, value) {
            case ("dryRun", .boolean(let isDry)): isDryRun = isDry
            case ("query", .string(let text)): query = text
            case ("action", .string(let name)): action = String(name.prefix(64))
            case (_, .string(let text)) where Self.variables.contains(name) && text.utf8.count <= Self.maximumBytes:
                environment[name] = text
            default:
                throw .malformed(
                    "there is no option \(String(name.prefix(64)).debugDescription) of type \(value.signature)")
            }
        }
    }
}
