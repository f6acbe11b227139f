// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightExtension
import ServiceMessages
import Synchronization
import Testing

@testable import ExtensionRuntime

/// A host that records its messages.
final class FakeLink: HostLink {
    private let noted = Mutex<[HostRequest]>([])
    private let sent = Mutex<[HostRequest]>([])

    var posts: [HostRequest] { noted.withLock { $0 } }
    var requests: [HostRequest] { sent.withLock { $0 } }

    var misuses: [HostRequest.Misuse] {
        posts.compactMap { if case .misuse(let rule, _) = $0 { rule } else { nil } }
    }

    func send(_ request: HostRequest, completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void) {
        sent.withLock { $0.append(request) }
        completion(.success([]))
    }

    func post(_ message: HostRequest) { noted.withLock { $0.append(message) } }
}

/// A clock that the test advances.
final class FakeTime: Sendable {
    private struct State {
        var now = Duration.zero
        var waiting: [(at: Duration, body: @Sendable () -> Void)] = []
    }
    private let state = Mutex(State())

    var time: SessionTime {
        SessionTime(
            now: { self.state.withLock { $0.now } },
            after: { delay, body in self.state.withLock { $0.waiting.append(($0.now + delay, body)) } })
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let now = state.now
            defer { state.waiting.removeAll { $0.at <= now } }
            return state.waiting.filter { $0.at <= now }
        }
        for (_, body) in due { body() }
    }
}

/// A host as a C extension sees it.
struct FakeHost {
    let link = FakeLink()
    let session: HostSession
    let tables: HostTables

    init(time: SessionTime = .system) {
        session = HostSession(link: link, time: time)
        tables = HostTables(
            session: session, bundleIdentifier: "com.example.test", bundlePath: "/tmp/test.searchext",
            principalClass: nil)
    }

    var host: UnsafePointer<searchlight_host> { UnsafePointer(tables.host) }

    func interface<Table>(_ identifier: String, as type: Table.Type = Table.self) throws -> Table {
        try #require(host.pointee.get_interface(host, identifier)?.load(as: Table.self))
    }

    /// Opens a request and records its answer.
    func open(call: UInt64 = 0) -> (request: UInt64, answers: Answers) {
        let answers = Answers()
        return (session.requests.open(call: call) { answers.add($0) }, answers)
    }

    final class Answers: Sendable {
        private let all = Mutex<[RequestOutcome]>([])
        func add(_ outcome: RequestOutcome) { all.withLock { $0.append(outcome) } }
        var count: Int { all.withLock { $0.count } }
        var last: RequestOutcome? { all.withLock { $0.last } }

        /// The status and the message of a failure.
        var failure: (status: ExtensionStatus, message: String)? {
            if case .failed(let status, let message)? = last { (status, message) } else { nil }
        }
    }
}

/// A number that a C callback increments.
final class Count: Sendable {
    private let value = Atomic(0)
    var number: Int { value.load(ordering: .sequentiallyConsistent) }
    func up() { value.add(1, ordering: .sequentiallyConsistent) }

    /// The object as a C context; it outlives the test.
    var context: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }
    static func of(_ context: UnsafeMutableRawPointer?) -> Count? {
        context.map { Unmanaged<Count>.fromOpaque($0).takeUnretainedValue() }
    }
}
