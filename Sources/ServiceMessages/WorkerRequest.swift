// SPDX-License-Identifier: Apache-2.0
import BusTransport

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

    /// The method that carries the request.
    public var member: BusMember { BusMember(Self.interface, call.name) }
    /// The arguments of the method.
    public var arguments: [BusValue] { call.arguments }

    private var call: (name: String, arguments: [BusValue]) {
        switch self {
        case .load(let load):
            (
                "Load",
                [
                    .string(load.bundlePath), .string(load.libraryPath), .string(load.bundleIdentifier),
                    .string(load.principalClass ?? ""), .strings(load.bindings),
                ]
            )
        case .reindexAll: ("ReindexAll", [])
        case .reindexPage(let page): ("ReindexPage", page.arguments)
        case .reindexItems(let identifiers): ("ReindexItems", [.strings(identifiers)])
        case .provideData(let item, let type): ("ProvideData", [.string(item), .string(type)])
        case .provideFile(let item, let type, let inPlace):
            ("ProvideFile", [.string(item), .string(type), .boolean(inPlace)])
        case .preview(let item, let query, let contentPath):
            ("Preview", [.string(item), .string(query ?? ""), .string(contentPath ?? "")])
        case .didThrottle(let notice): ("DidThrottle", notice.arguments)
        case .didFinishThrottle: ("DidFinishThrottle", [])
        case .cancel(let call): ("Cancel", [.unsigned(call)])
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError/malformed(_:)`` for wrong arguments, ``BusError/remote(name:message:)`` with
    ///   ``BusErrorName/unknownMethod`` for a method that is not one.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch (call.member.interface, call.member.member) {
        case (Self.interface, "Load"):
            self = .load(
                LoadRequest(
                    bundlePath: try arguments.string(), libraryPath: try arguments.string(),
                    bundleIdentifier: try arguments.string(), principalClass: try arguments.string().nonEmpty,
                    bindings: try arguments.strings()))
        case (Self.interface, "ReindexAll"): self = .reindexAll
        case (Self.interface, "ReindexPage"): self = .reindexPage(try ReindexPage(&arguments))
        case (Self.interface, "ReindexItems"): self = .reindexItems(try arguments.strings())
        case (Self.interface, "ProvideData"):
            self = .provideData(item: try arguments.string(), type: try arguments.string())
        case (Self.interface, "ProvideFile"):
            self = .provideFile(
                item: try arguments.string(), type: try arguments.string(), inPlace: try arguments.boolean())
        case (Self.interface, "Preview"):
            self = .preview(
                item: try arguments.string(), query: try arguments.string().nonEmpty,
                contentPath: try arguments.string().nonEmpty)
        case (Self.interface, "DidThrottle"): self = .didThrottle(try ThrottleNotice(&arguments))
        case (Self.interface, "DidFinishThrottle"): self = .didFinishThrottle
        case (Self.interface, "Cancel"): self = .cancel(call: try arguments.unsigned())
        default: throw .unknownMethod(call.member)
        }
        try arguments.finish()
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

    /// Creates a request from its parts.
    public init(
        bundlePath: String, libraryPath: String, bundleIdentifier: String, principalClass: String? = nil,
        bindings: [String] = []
    ) {
        self.bundlePath = bundlePath
        self.libraryPath = libraryPath
        self.bundleIdentifier = bundleIdentifier
        self.principalClass = principalClass
        self.bindings = bindings
    }
}

extension BusError {
    static func unknownMethod(_ member: BusMember) -> BusError {
        .remote(name: BusErrorName.unknownMethod, message: "There is no method \(member.interface).\(member.member).")
    }
}

extension String {
    /// D-Bus has no absent text; the empty one stands for it.
    var nonEmpty: String? { isEmpty ? nil : self }
}
