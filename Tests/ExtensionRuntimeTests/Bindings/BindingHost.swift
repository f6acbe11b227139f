// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import Foundation
import ItemRecord
import ServiceMessages
import SymbolBindings
import Synchronization
import TestSupport
import Testing

@testable import ExtensionRuntime

/// A host that stores donations, for extensions that are bindings to the C library in
/// Tests/Fixtures/Bindings.
final class BindingHost: HostLink {
    private struct State {
        var items: [String: ItemRecord] = [:]
        var actions: [IndexRequest.Action] = []
        var posts: [HostRequest] = []
        var record: RecordReply = RecordReply(record: nil)
        /// Requests that are not answered until they are released.
        var held: [@Sendable () -> Void]?
    }
    private let state = Mutex(State())
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    // MARK: The link

    func send(_ request: HostRequest, completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void) {
        guard case .index(let request) = request else { return completion(.success([])) }
        let answer = state.withLock { state -> (@Sendable () -> Void)? in
            state.actions.append(request.action)
            var values: [BusValue] = []
            if case .record = request { values = state.record.arguments }
            switch request.change {
            case .put(let batch)?:
                for slice in (try? RecordBatch.split(batch)) ?? [] {
                    guard let record = try? ItemRecord(decoding: Array(slice)) else { continue }
                    state.items[record.uniqueIdentifier] = record
                }
            case .deleteItems(let names)?: for name in names { state.items[name] = nil }
            default: break
            }
            let answer: @Sendable () -> Void = { [values] in completion(.success(values)) }
            guard state.held != nil, case .put? = request.change else { return answer }
            state.held?.append(answer)
            return nil
        }
        answer?()
    }

    func post(_ message: HostRequest) { state.withLock { $0.posts.append(message) } }

    // MARK: What came

    var items: [String: ItemRecord] { state.withLock { $0.items } }
    var actions: [IndexRequest.Action] { state.withLock { $0.actions } }
    var misuses: [HostRequest.Misuse] {
        state.withLock { $0.posts }.compactMap { if case .misuse(let rule, _) = $0 { rule } else { nil } }
    }
    var logged: [String] {
        state.withLock { $0.posts }.compactMap { if case .log(_, let message) = $0 { message } else { nil } }
    }

    /// Sets the item that the host returns when it is asked for one.
    func hold(_ record: ItemRecord?, types: [String] = ["public.plain-text"]) throws {
        let bytes = try record?.encoded()
        state.withLock { $0.record = RecordReply(record: bytes, types: types) }
    }

    /// Keeps donations unanswered until they are released.
    func holdDonations() { state.withLock { $0.held = [] } }
    func letDonationsGo() { for answer in state.withLock({ $0.held ?? [] }) { answer() } }

    // MARK: Extensions

    /// Loads bindings whose common first line may be missing.
    func load(_ bindings: String...) throws -> Loaded {
        let session = HostSession(link: self)
        let texts = try bindings.map { text in
            text.replacingOccurrences(of: "LIBRARY", with: "library \"./\(try Self.library())\"")
        }
        let request = LoadRequest(
            bundlePath: Self.libraryFolder, libraryPath: "", bundleIdentifier: "com.example.bound", bindings: texts,
            types: ["md": "net.daringfireball.markdown"])
        return Loaded(bound: try BoundExtension(request, session: session), session: session)
    }

    struct Loaded {
        let bound: BoundExtension
        let session: HostSession

        /// Sends a request and waits for its answer.
        func ask(_ request: (BoundExtension, UInt64) -> Bool) async -> RequestOutcome? {
            await withCheckedContinuation { (waiting: CheckedContinuation<RequestOutcome?, Never>) in
                let number = session.requests.open { waiting.resume(returning: $0) }
                if !request(bound, number) { session.finish(number, .failed(.unsupported, "not served")) }
            }
        }

        /// Returns the text of a promise.
        func data() async throws -> String {
            switch await ask({ $0.provideData($1, item: "item", type: "public.html") }) {
            case .data(let bytes): String(decoding: bytes, as: UTF8.self)
            case .failed(let status, let message): throw BindingFailure(status, message)
            default: throw BindingFailure(.failed, "another answer")
            }
        }

        func failure() async -> BindingFailure? {
            do {
                _ = try await data()
                return nil
            } catch { return error as? BindingFailure }
        }
    }

    /// Returns the text of a promise that makes one call.
    func text(_ call: String, result: String = "out") async throws -> String {
        if items.isEmpty, actions.isEmpty {
            try hold(ItemRecord(uniqueIdentifier: "item", attributes: Self.attributes))
        }
        return try await load(Self.binding(call, result: result)).data()
    }

    func failure(_ call: String, result: String = "out") async throws -> BindingFailure? {
        try hold(ItemRecord(uniqueIdentifier: "item", attributes: Self.attributes))
        return await (try load(Self.binding(call, result: result))).failure()
    }

    static func binding(_ call: String, result: String = "out") -> String {
        "serve data public.html of public.plain-text\nLIBRARY\ncall \(call)\nresult \(result)"
    }

    static let attributes: [String: AttributeValue] = [
        "title": .string("Grüße"), "rating": .double(0.5), "pageCount": .integer(-3), "isRead": .boolean(true),
        "contentURL": .url("file:///nothing%20here"),
    ]

    // MARK: The library

    private static let libraryFolder: String = {
        let path = FileManager.default.temporaryDirectory.path + "/searchlight-bound-\(getpid())"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: BindingHost.libraryFolder) }
        return path
    }()
    private static let built = Mutex<Set<String>>([])
    /// The folder of the test sources, which with `docs` inside is also the root of the project.
    static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// Returns the file name of a test library, and compiles the library on first use.
    static func library(_ name: String = "everything") throws -> String {
        try built.withLock { built in
            guard !built.contains(name) else { return }
            let source = project + "/Tests/Fixtures/Bindings/\(name).c"
            let (ending, output) = try ChildProcess.run(
                "/usr/bin/env",
                [
                    "clang", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared",
                    "-fPIC",
                    source, "-o", libraryFolder + "/\(name).so",
                ])
            try #require(ending == .exited(0), "\(output)")
            built.insert(name)
        }
        return name + ".so"
    }
}
