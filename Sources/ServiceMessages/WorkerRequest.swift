// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SystemSupport

/// A request from a host to a worker. Each case is a method of the interface
/// `com.searchlight.Worker1`.
public enum WorkerRequest: Sendable, Hashable {
    /// Opens the extension's library. This is the first request, and is sent only once. Answer: the
    /// identifiers of the extension's interfaces.
    case load(LoadRequest)
    /// Records the calls between the extension and the host, or replays a recording. Sent before
    /// ``load(_:)``; the answer is empty.
    case recordBoundary(BoundaryRequest)
    /// Donates all items. The answer follows the extension's acknowledgement.
    case reindexAll
    /// Donates one page of all items. Answer: a ``ReindexPageReply``.
    case reindexPage(ReindexPage)
    /// Donates each of these items again, or deletes it. The answer follows the extension's
    /// acknowledgement.
    case reindexItems([String])
    /// Donates each of these items of an encrypted index again, or deletes it. The answer follows
    /// the extension's acknowledgement.
    case reindexEncrypted(EncryptedItems)
    /// Donates all items, except those of encrypted indexes, which are locked. Only sent to apps.
    /// The names are those of the app's locked indexes, since the app's objects for these indexes
    /// may have another class or none.
    case reindexUnlocked(lockedIndexes: [String])
    /// Updates the items of these files. The answer follows the extension's acknowledgement.
    case updateFiles([FileChange])
    /// Provides an item's data in a type. Answer: a ``Payload``.
    case provideData(item: String, type: String)
    /// Provides a file for an item in a type; the original file if `inPlace` is set. Answer: a
    /// descriptor and a file name.
    case provideFile(item: String, type: String, inPlace: Bool)
    /// Renders a preview of an item. Answer: a ``PreviewReply``.
    case preview(item: String, query: String?, contentPath: String?)
    /// Notifies the extension that indexing is slowed down.
    case didThrottle(ThrottleNotice)
    /// Notifies the extension that indexing is no longer slowed down.
    case didFinishThrottle
    /// Cancels a call by its serial number; the worker must answer the cancelled call soon. This
    /// request itself has no answer.
    case cancel(call: UInt64)

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Worker1"

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case load = "Load"
        case recordBoundary = "RecordBoundary"
        case reindexAll = "ReindexAll"
        case reindexPage = "ReindexPage"
        case reindexItems = "ReindexItems"
        case reindexEncrypted = "ReindexEncrypted"
        case reindexUnlocked = "ReindexUnlocked"
        case updateFiles = "UpdateFiles"
        case provideData = "ProvideData"
        case provideFile = "ProvideFile"
        case preview = "Preview"
        case didThrottle = "DidThrottle"
        case didFinishThrottle = "DidFinishThrottle"
        case cancel = "Cancel"
    }

    /// The method of the request.
    public var member: BusMember { BusMember(Self.interface, call.method.rawValue) }
    /// The arguments of the method.
    public var arguments: [BusValue] { call.arguments }

    private var call: (method: Method, arguments: [BusValue]) {
        switch self {
        case .load(let load):
            (
                .load,
                [
                    .string(load.bundlePath), .string(load.libraryPath), .string(load.bundleIdentifier),
                    .string(load.principalClass ?? ""), .strings(load.bindings),
                    .strings(load.types.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }),
                    .string(load.database),
                ]
            )
        case .recordBoundary(let request): (.recordBoundary, request.arguments)
        case .reindexAll: (.reindexAll, [])
        case .reindexPage(let page): (.reindexPage, page.arguments)
        case .reindexItems(let identifiers): (.reindexItems, [.strings(identifiers)])
        case .reindexEncrypted(let items): (.reindexEncrypted, items.arguments)
        case .reindexUnlocked(let names): (.reindexUnlocked, [.strings(names)])
        case .updateFiles(let changes): (.updateFiles, changes.arguments)
        case .provideData(let item, let type): (.provideData, [.string(item), .string(type)])
        case .provideFile(let item, let type, let inPlace):
            (.provideFile, [.string(item), .string(type), .boolean(inPlace)])
        case .preview(let item, let query, let contentPath):
            (.preview, [.string(item), .string(text: query ?? ""), .string(contentPath ?? "")])
        case .didThrottle(let notice): (.didThrottle, notice.arguments)
        case .didFinishThrottle: (.didFinishThrottle, [])
        case .cancel(let call): (.cancel, [.unsigned(call)])
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError/malformed(_:)`` for invalid arguments;
    ///   ``BusError/remote(name:message:)`` with ``BusErrorName/unknownMethod`` for an unknown
    ///   method.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch Method(call.member, of: Self.interface) {
        case .load:
            self = .load(
                LoadRequest(
                    bundlePath: try arguments.string(), libraryPath: try arguments.string(),
                    bundleIdentifier: try arguments.string(), principalClass: try arguments.string().nonEmpty,
                    bindings: try arguments.strings(), types: Self.pairs(try arguments.strings()),
                    database: try arguments.string()))
        case .recordBoundary: self = .recordBoundary(try BoundaryRequest(&arguments))
        case .reindexAll: self = .reindexAll
        case .reindexPage: self = .reindexPage(try ReindexPage(&arguments))
        case .reindexItems: self = .reindexItems(try arguments.strings())
        case .reindexEncrypted: self = .reindexEncrypted(try EncryptedItems(&arguments))
        case .reindexUnlocked: self = .reindexUnlocked(lockedIndexes: try arguments.strings())
        case .updateFiles: self = .updateFiles(try [FileChange](&arguments))
        case .provideData:
            self = .provideData(item: try arguments.string(), type: try arguments.string())
        case .provideFile:
            self = .provideFile(
                item: try arguments.string(), type: try arguments.string(), inPlace: try arguments.boolean())
        case .preview:
            self = .preview(
                item: try arguments.string(), query: try arguments.string().nonEmpty,
                contentPath: try arguments.string().nonEmpty)
        case .didThrottle: self = .didThrottle(try ThrottleNotice(&arguments))
        case .didFinishThrottle: self = .didFinishThrottle
        case .cancel: self = .cancel(call: try arguments.unsigned())
        case nil: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }

    private static func pairs(_ texts: [String]) -> [String: String] {
        let pairs = stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }
        return Dictionary(pairs) { first, _ in first }
    }
}

/// The extension that a worker must load.
public struct LoadRequest: Sendable, Hashable {
    /// The absolute path of the `.searchext` directory.
    public var bundlePath: String
    /// The absolute path of the library.
    public var libraryPath: String
    /// The identifier in the manifest.
    public var bundleIdentifier: String
    /// The principal class, for an extension written against CoreSpotlight.
    public var principalClass: String?
    /// The symbol bindings in the manifest, in order; empty for an extension with its own code.
    public var bindings: [String]
    /// The uniform types of files by lowercase filename extension; empty unless a binding needs
    /// them.
    public var types: [String: String]
    /// The manifest's `Searchlight.Database` as JSON text; empty for an extension without it.
    public var database: String

    /// Creates a request from its parts.
    public init(
        bundlePath: String, libraryPath: String, bundleIdentifier: String, principalClass: String? = nil,
        bindings: [String] = [], types: [String: String] = [:], database: String = ""
    ) {
        self.bundlePath = bundlePath
        self.libraryPath = libraryPath
        self.bundleIdentifier = bundleIdentifier
        self.principalClass = principalClass
        self.bindings = bindings
        self.types = types
        self.database = database
    }
}

extension RawRepresentable<String> {
    /// Creates the method that a call names; `nil` if the interface does not have it.
    init?(_ member: BusMember, of interface: String) {
        guard member.interface == interface else { return nil }
        self.init(rawValue: member.member)
    }
}

extension BusError {
    /// Returns the error for an unknown method.
    public static func unknownMethod(_ member: BusMember) -> BusError {
        .remote(name: BusErrorName.unknownMethod, message: "There is no method \(member.interface).\(member.member).")
    }
}

extension String {
    /// The text; `nil` if it is empty. D-Bus has no optional strings, so an empty string means
    /// none.
    var nonEmpty: String? { isEmpty ? nil : self }
}
