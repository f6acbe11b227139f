// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A method call that arrived; answered once, from any thread, now or later.
public final class IncomingCall: Sendable {
    /// What is called.
    public let member: BusMember
    /// The object that is called.
    public let path: String
    /// With what; nothing once ``releaseArguments()`` was called.
    public var arguments: [BusValue] { given.withLock { $0 } }
    private let given: Mutex<[BusValue]>
    private let key: BusThread.CallKey
    /// The room of a large call from a peer that is not trusted.
    private let ticket: ReceiveBudget.Ticket?
    private let mailbox: BusMailbox
    private let answered = Atomic<Bool>(false)

    /// The number by which the caller knows this call; never used again on the same connection.
    public var serial: UInt64 { key.cookie }

    /// The unique name of the caller, as the message bus says; `nil` on a connection without one.
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
        if !answered.load(ordering: .relaxed) { refuse(name: BusErrorName.failed, message: "The call was dropped.") }
    }

    /// Gives the arguments up, which may be large, once they were read.
    public func releaseArguments() { given.withLock { $0 = [] } }

    /// Gives up the room that other large calls may be waiting for. The call still counts for its own connection until it is
    /// answered, and the caller bounds what it keeps of its arguments.
    public func releaseRoom() { ticket?.end() }

    /// Answers with results. Only the first answer counts.
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

    /// Answers with an error. Only the first answer counts.
    public func refuse(name: String, message: String) {
        guard !answered.exchange(true, ordering: .relaxed) else { return }
        let key = key
        mailbox.post {
            $0.answer(key, .failure(.remote(name: name, message: message)))
        } orElse: {
        }
    }
}
