// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
import Dispatch
internal import ServiceMessages

/// The way from this process to the service, over whatever connections it takes.
///
/// Nothing is connected before the first request. When a connection is lost, a new one is made and what was not
/// acknowledged is sent again, in order (``ResendPlan``). Without a service requests fail after
/// ``ServiceTiming/patience``. Nothing is done, and no timer runs, while nothing waits.
///
/// A process that forks must not use the child's copy: the thread of the connection is not in it. A child that calls `exec`
/// is fine.
final class ServiceConnection: @unchecked Sendable {
    // Sendable: variables are read and written on `queue` only.

    enum Phase {
        /// There is no connection and none is sought.
        case idle
        /// A connection is being made.
        case opening
        /// The service is being greeted.
        case greeting(any ServiceLink)
        /// The service is asked what became of earlier requests.
        case asking(any ServiceLink)
        /// Requests go out.
        case ready(any ServiceLink)
        /// The next attempt comes after a while.
        case waiting

        var link: (any ServiceLink)? {
            switch self {
            case .greeting(let link), .asking(let link), .ready(let link): link
            case .idle, .opening, .waiting: nil
            }
        }
    }

    /// How often a request is sent before it is taken for what ends the service.
    static let maximumSends = 5

    let queue = DispatchQueue(label: "searchlight.service")
    let openingQueue = DispatchQueue(label: "searchlight.service.opening")
    let opener: any ServiceOpener
    let identity: ProcessIdentity
    let timing: ServiceTiming
    let onCall: BusConnection.CallHandler

    var phase = Phase.idle
    /// Which attempt to connect events belong to; those of earlier ones come too late.
    var epoch = 0
    var waiting = WaitingRequests()
    /// Attempts that failed since a request was answered.
    var failures = 0
    var wasEverConnected = false
    var lastLoss: Duration?
    var lastFailure: BusError?
    var cancelTimer: (@Sendable () -> Void)?
    var isDelegateWanted = false
    /// What the service was told of that over the present connection.
    var isRegistered = false
    var probes: [@Sendable (Bool) -> Void] = []

    /// A connection that nothing was asked of yet.
    ///
    /// - Parameter onCall: Receives what the service asks of the app, on a thread that must not be blocked.
    init(
        opener: any ServiceOpener, identity: ProcessIdentity, timing: ServiceTiming = .system,
        onCall: @escaping BusConnection.CallHandler = { $0.refuse(.unsupported, "This app answers nothing.") }
    ) {
        self.opener = opener
        self.identity = identity
        self.timing = timing
        self.onCall = onCall
    }

    // MARK: Asking

    /// Makes a request. Changes of the index are carried out in the order in which this is called.
    ///
    /// - Parameter reply: Called once, on a thread that must not be blocked.
    func ask(_ content: WaitingRequest.Content, reply: @escaping WaitingRequest.Reply) {
        queue.async { [self] in
            _ = waiting.append(WaitingRequest(content: content, submitted: timing.now(), reply: reply))
            proceed()
        }
    }

    /// Sends something that has no answer, if there is a connection.
    func tell(_ member: BusMember, _ arguments: [BusValue]) {
        queue.async { [self] in
            if case .ready(let link) = phase { link.post(member, arguments) }
        }
    }

    /// Says whether the service can be asked, after trying to reach it.
    func probe(_ answer: @escaping @Sendable (Bool) -> Void) {
        queue.async { [self] in
            probes.append(answer)
            proceed()
        }
    }

    /// Registers this process with the service as the one that answers for its bundle, now and after each reconnection; or
    /// takes that back.
    func setDelegateWanted(_ isWanted: Bool) {
        queue.async { [self] in
            isDelegateWanted = isWanted
            switch phase {
            case .asking(let link), .ready(let link): register(link)
            case .idle: if isWanted { open() }
            case .opening, .greeting, .waiting: break
            }
        }
    }

    // MARK: The queue's side

    /// Does what can be done now. Only on the queue.
    func proceed() {
        switch phase {
        case .idle: open()
        case .ready: sendWaiting()
        case .opening, .greeting, .asking, .waiting: break
        }
    }

    func sendWaiting() {
        guard case .ready(let link) = phase else { return }
        answerProbes(true)
        let epoch = epoch
        while let (number, request) = waiting.next() {
            link.call(request.member, request.arguments) { [weak self] result in
                guard let self else { return }
                queue.async { self.received(result, for: number, epoch) }
            }
        }
    }

    private func received(_ result: Result<[BusValue], BusError>, for number: UInt64, _ epoch: Int) {
        guard epoch == self.epoch else { return }
        switch result {
        case .success(let values):
            failures = 0
            waiting.remove(number)?.reply(.success(values))
        // It stays where it is, to be sent again: the end of the connection is told as well.
        case .failure(.disconnected), .failure(.cancelled): return
        case .failure(let error):
            failures = 0
            waiting.remove(number)?.reply(.failure(error))
        }
        sendWaiting()
    }

    func answerProbes(_ answer: Bool) {
        for probe in probes { probe(answer) }
        probes = []
    }

    /// Tells the service whether this process answers for its bundle, if it does not know. A refusal changes nothing here:
    /// the service asks the extension then.
    func register(_ link: any ServiceLink) {
        guard isDelegateWanted != isRegistered else { return }
        isRegistered = isDelegateWanted
        let request: DelegateRequest = isDelegateWanted ? .register : .unregister
        link.call(request.member, []) { _ in }
    }
}

extension IncomingCall {
    func refuse(_ status: ExtensionStatus, _ message: String) { refuse(name: status.errorName, message: message) }
}
