// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A received method call. It must be answered once, from any thread, immediately or later.
public final class IncomingCall: Sendable {
    /// The called method.
    public let member: BusMember
    /// The called object.
    public let path: String
    /// The arguments; empty after ``releaseArguments()``.
    public var arguments: [BusValue] { given.withLock { $0 } }
    private let given: Mutex<[BusValue]>
    private let key: BusThread.CallKey
    /// The call's share of the memory budget, if it is a large call from an untrusted peer.
    private let ticket: ReceiveBudget.Ticket?
    private let mailbox: BusMailbox
    private let answered = Atomic<Bool>(false)

    /// The caller's serial number of this call, unique on the connection.
    public var serial: UInt64 { key.cookie }

    /// The unique name of the caller on the message bus; `nil` on other connections.
    public var sender: String? { key.sender }

    init(
        member: BusMember, path: String, arguments: [BusValue], key: BusThread.CallKey, ticket: ReceiveBudget.Ticket?,
        mailbox: BusMailbox
    ) {
        self.member = member
        self.path = path
        given = Mutex(arguments)
        self.key = key
        self.ticket = ticket
        self.mailbox = mailbox
    }

    deinit {
        if !answered.load(ordering: .relaxed) {
            refuse(name: BusErrorName.failed, message: "The handler dropped the call without an answer.")
        }
    }

    /// Releases the arguments, which may be large, after they have been read.
    public func releaseArguments() { given.withLock { $0 = [] } }

    /// Releases the call's share of the memory budget, which other large calls may wait for. The
    /// call still counts towards its own connection's limits until it is answered. The caller must
    /// bound its own copy of the arguments.
    public func releaseRoom() { ticket?.end() }

    /// Answers with results. Only the first answer is sent.
    public func reply(_ values: [BusValue] = []) {
        guard !answered.exchange(true, ordering: .relaxed) else { return }
        let key = key
        mailbox.post {
            $0.answer(key, .success(values))
        } orElse: {
        }
    }

    /// Answers with an error.
    public func refuse(_ error: BusError) {
        switch error {
        case .remote(let name, let message): refuse(name: name, message: message)
        case .malformed: refuse(name: BusErrorName.invalidArguments, message: error.description)
        case .disconnected, .cancelled, .system: refuse(name: BusErrorName.failed, message: error.description)
        }
    }

    /// Answers with an error. Only the first answer is sent.
    public func refuse(name: String, message: String) {
        guard !answered.exchange(true, ordering: .relaxed) else { return }
        let key = key
        mailbox.post {
            $0.answer(key, .failure(.remote(name: name, message: message)))
        } orElse: {
        }
    }
}
