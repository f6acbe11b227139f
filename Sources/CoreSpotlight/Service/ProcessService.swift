// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
internal import BusTransport
internal import ServiceMessages
import Synchronization

/// The connection from an app's process to the service. It is created on first use; an extension's
/// process has none.
enum ProcessService {
    static let connection: ServiceConnection = ServiceConnection(
        opener: ServiceFinder.of(ProcessInfo.processInfo.environment),
        identity: .current(),
        onCall: { call in
            if call.member.interface == ActivityRequest.interface { return continuations.receive(call) }
            DelegateHandler { delegates.asked }.receive(call)
        })

    static let transport = ServiceTransport(connection: connection)
    static let sender = RequestSender(transport: transport)

    /// The delegates of the app's indexes.
    static let delegates: IndexDelegates = IndexDelegates { isWanted in
        // In an extension, the principal object is called instead.
        if !ProcessSenders.isWorker { connection.setDelegateWanted(isWanted) }
    }

    /// The handlers for activities that the user continues in the app.
    static let continuations = ContinuationHandlers { identifier in
        let request = IndexRequest.record(identifier)
        guard let values = try? await connection.answer(request.member, request.arguments) else { return nil }
        var arguments = BusArguments(values, of: request.member.member)
        return try? RecordReply(&arguments).record
    } onChange: { isWanted in
        // An extension does not open anything.
        if !ProcessSenders.isWorker { connection.setActivitiesWanted(isWanted) }
    }

    /// The maximum wait for an availability check, in seconds.
    private static let probePatience = 5

    /// `true` if the service can be reached and accepts requests from this process. Blocks for at
    /// most five seconds.
    static var isReachable: Bool {
        let probe = Probe()
        connection.probe { probe.answer($0) }
        return probe.wait(seconds: probePatience)
    }

    private final class Probe: Sendable {
        private let done = DispatchSemaphore(value: 0)
        private let result = Atomic(false)

        func answer(_ isReachable: Bool) {
            result.store(isReachable, ordering: .releasing)
            done.signal()
        }

        func wait(seconds: Int) -> Bool {
            done.wait(timeout: .now() + .seconds(seconds)) == .success && result.load(ordering: .acquiring)
        }
    }
}
