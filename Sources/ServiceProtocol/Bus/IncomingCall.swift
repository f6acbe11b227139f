// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A method call that arrived; answered once, from any thread, now or later.
public final class IncomingCall: Sendable {
    /// What is called.
    public let member: BusMember
    /// With what.
    public let arguments: [BusValue]
    private let cookie: UInt64
    private let mailbox: BusMailbox
    private let answered = Atomic<Bool>(false)

    init(member: BusMember, arguments: [BusValue], cookie: UInt64, mailbox: BusMailbox) {
        self.member = member
        self.arguments = arguments
        self.cookie = cookie
        self.mailbox = mailbox
    }

    deinit {
        if !answered.load(ordering: .relaxed) { refuse(name: BusErrorName.failed, message: "The call was dropped.") }
    }

    /// Answers with results. Only the first answer counts.
    public func reply(_ values: [BusValue] = []) {
        guard !answered.exchange(true, ordering: .relaxed) else { return }
        let cookie = cookie
        mailbox.post {
            $0.answer(cookie, .success(values))
        } orElse: {
        }
    }

    /// Answers with an error. Only the first answer counts.
    public func refuse(name: String, message: String) {
        guard !answered.exchange(true, ordering: .relaxed) else { return }
        let cookie = cookie
        mailbox.post {
            $0.answer(cookie, .failure(.remote(name: name, message: message)))
        } orElse: {
        }
    }
}
