// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SystemSupport

/// What a host asks of a worker. Each case is one method of the interface `com.searchlight.Worker1`.
public enum WorkerRequest: Sendable, Hashable {
    /// Opens the extension's library; the first request, once. Answer: the identifiers of the interfaces it serves.
    case load(LoadRequest)
    /// Donate everything. Answered when the extension acknowledges.
    case reindexAll
    /// Donate one page of everything. Answer: a ``ReindexPageReply``.
    case reindexPage(ReindexPage)
    /// Donate again or delete each of these. Answered when the extension acknowledges.
    case reindexItems([String])
    /// Update the items of these files. Answered when the extension acknowledges.
    case updateFiles([FileChange])
    /// The item as bytes of a type. Answer: a ``Payload``.
    case provideData(item: String, type: String)
    /// The item as a file of a type; the original if `inPlace`. Answer: a descriptor and a file name.
    case provideFile(item: String, type: String, inPlace: Bool)
    /// What a person should see of the item. Answer: a ``PreviewReply``.
    case preview(item: String, query: String?, contentPath: String?)
    /// Indexing is slowed down.
    case didThrottle(ThrottleNotice)
    /// Indexing is no longer slowed down.
    case didFinishThrottle
    /// Nobody waits any more for the answer of a call, named by its serial number; it is to be answered soon. Has no answer.
    case cancel(call: UInt64)

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Worker1"

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case load = "Load"
        case reindexAll = "ReindexAll"
        case reindexPage = "ReindexPage"
        case reindexItems = "ReindexItems"
        case updateFiles = "UpdateFiles"
        case provideData = "ProvideData"
        case provideFile = "ProvideFile"
        case preview = "Preview"
        case didThrottle = "DidThrottle"
        case didFinishThrottle = "DidFinishThrottle"
        case cancel = "Cancel"
    }

    /// The method that carries the request.
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
                ]
            )
        case .reindexAll: (.reindexAll, [])
        case .reindexPage(let page): (.reindexPage, page.arguments)
        case .reindexItems(let identifiers): (.reindexItems, [.strings(identifiers)])
        case .updateFiles(let changes): (.updateFiles, changes.arguments)
        case .provideData(let item, let type): (.provideData, [.string(item), .string(type)])
        case .provideFile(let item, let type, let inPlace):
            (.provideFile, [.string(item), .string(type), .boolean(inPlace)])
        case .preview(let item, let query, let contentPath):
            (.preview, [.string(item), .string(query ?? ""), .string(contentPath ?? "")])
        case .didThrottle(let notice): (.didThrottle, notice.arguments)
        case .didFinishThrottle: (.didFinishThrottle, [])
        case .cancel(let call): (.cancel, [.unsigned(call)])
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError/malformed(_:)`` for wrong arguments, ``BusError/remote(name:message:)`` with
    ///   ``BusErrorName/unknownMethod`` for a method that is not one.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch Method(call.member, of: Self.interface) {
        case .load:
            self = .load(
                LoadRequest(
                    bundlePath: try arguments.string(), libraryPath: try arguments.string(),
                    bundleIdentifier: try arguments.string(), principalClass: try arguments.string().nonEmpty,
                    bindings: try arguments.strings(), types: Self.pairs(try arguments.strings())))
        case .reindexAll: self = .reindexAll
        case .reindexPage: self = .reindexPage(try ReindexPage(&arguments))
        case .reindexItems: self = .reindexItems(try arguments.strings())
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

/// Which extension a worker is to load.
public struct LoadRequest: Sendable, Hashable {
    /// The `.searchext` directory, absolute.
    public var bundlePath: String
    /// The library, absolute.
    public var libraryPath: String
    /// The identifier in the manifest.
    public var bundleIdentifier: String
    /// The class that implements the extension, for one written against CoreSpotlight.
    public var principalClass: String?
    /// The symbol bindings of its manifest, in the order of the manifest; empty for an extension with code of its own.
    public var bindings: [String]
    /// The types of files by their name extensions, in lower case; empty where no binding asks for them.
    public var types: [String: String]

    /// Creates a request from its parts.
    public init(
        bundlePath: String, libraryPath: String, bundleIdentifier: String, principalClass: String? = nil,
        bindings: [String] = [], types: [String: String] = [:]
    ) {
        self.bundlePath = bundlePath
        self.libraryPath = libraryPath
        self.bundleIdentifier = bundleIdentifier
        self.principalClass = principalClass
        self.bindings = bindings
        self.types = types
    }
}

extension RawRepresentable<String> {
    /// The method of an interface that a call names; `nil` if it is none.
    init?(_ member: BusMember, of interface: String) {
        guard member.interface == interface else { return nil }
        self.init(rawValue: member.member)
    }
}

extension BusError {
    /// The refusal of a method that is none.
    public static func unknownMethod(_ member: BusMember) -> BusError {
        .remote(name: BusErrorName.unknownMethod, message: "There is no method \(member.interface).\(member.member).")
    }
}

extension String {
    /// D-Bus has no absent text; the empty one stands for it.
    var nonEmpty: String? { isEmpty ? nil : self }
}
