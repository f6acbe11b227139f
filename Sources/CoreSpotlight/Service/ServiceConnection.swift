// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
import Dispatch
internal import ServiceMessages

/// The connection from this process to the service. It persists across individual socket
/// connections.
///
/// It connects when the first request is made. After losing its connection it reconnects, and sends
/// unacknowledged requests again in order (``ResendPlan``). Without a service, requests fail after
/// ``ServiceTiming/patience``. While no request is waiting, it does no work and has no timer.
///
/// After a fork, the child process must not use its copy, because the connection's thread does not
/// exist there. A child that calls `exec` is not affected.
final class ServiceConnection: @unchecked Sendable {
    // Sendable: variables are read and written only on `queue`.

    enum Phase {
        /// There is no connection and no attempt.
        case idle
        /// An attempt to connect is in progress.
        case opening
        /// The service was greeted but has not replied.
        case greeting(any ServiceLink)
        /// The client states that show the outcome of earlier requests are being read.
        case asking(any ServiceLink)
        /// Requests are sent.
        case ready(any ServiceLink)
        /// The next attempt follows after a delay.
        case waiting

        var link: (any ServiceLink)? {
            switch self {
            case .greeting(let link), .asking(let link), .ready(let link): link
            case .idle, .opening, .waiting: nil
            }
        }
    }

    /// The number of times that a request is sent before it is assumed to crash the service.
    static let maximumSends = 5

    let queue = DispatchQueue(label: "searchlight.service")
    let openingQueue = DispatchQueue(label: "searchlight.service.opening")
    let opener: any ServiceOpener
    let identity: ProcessIdentity
    let timing: ServiceTiming
    let onCall: BusConnection.CallHandler

    var phase = Phase.idle
    /// The number of the current connection attempt. Events from earlier attempts are ignored.
    var epoch = 0
    var waiting = WaitingRequests()
    /// The number of failed attempts since the last request that was replied to.
    var failures = 0
    var wasEverConnected = false
    var lastLoss: Duration?
    var lastFailure: BusError?
    var cancelTimer: (@Sendable () -> Void)?
    var isDelegateWanted = false
    /// The delegate state that was last sent over the current connection.
    var isRegistered = false
    /// `true` if this process takes activities, and the state that was last sent.
    var (areActivitiesWanted, areActivitiesRegistered) = (false, false)
    var probes: [@Sendable (Bool) -> Void] = []

    /// Creates a connection without requests.
    ///
    /// - Parameter onCall: Receives the service's calls to the app, on a thread that must not
    ///   block.
    init(
        opener: any ServiceOpener, identity: ProcessIdentity, timing: ServiceTiming = .system,
        onCall: @escaping BusConnection.CallHandler = { $0.refuse(.unsupported, "This app serves no calls.") }
    ) {
        self.opener = opener
        self.identity = identity
        self.timing = timing
        self.onCall = onCall
    }

    // MARK: Asking

    /// Makes a request. Index changes are processed in the order of these calls.
    ///
    /// - Parameter reply: Called once, on a thread that must not block.
    func ask(_ content: WaitingRequest.Content, reply: @escaping WaitingRequest.Reply) {
        queue.async { [self] in
            _ = waiting.append(WaitingRequest(content: content, submitted: timing.now(), reply: reply))
            proceed()
        }
    }

    /// Sends a message that has no reply, if there is a connection.
    func tell(_ member: BusMember, _ arguments: [BusValue]) {
        queue.async { [self] in
            if case .ready(let link) = phase { link.post(member, arguments) }
        }
    }

    /// Tries to connect, and reports whether the service can be reached.
    func probe(_ answer: @escaping @Sendable (Bool) -> Void) {
        queue.async { [self] in
            probes.append(answer)
            proceed()
        }
    }

    /// Registers this process with the service as the delegate of its bundle, now and after each
    /// reconnection, or unregisters it.
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

    /// Registers this process with the service to receive activities, now and after each
    /// reconnection, or unregisters it.
    func setActivitiesWanted(_ areWanted: Bool) {
        queue.async { [self] in
            areActivitiesWanted = areWanted
            switch phase {
            case .asking(let link), .ready(let link): register(link)
            case .idle: if areWanted { open() }
            case .opening, .greeting, .waiting: break
            }
        }
    }

    // MARK: The queue's side

    /// Takes the next possible step. Only called on the queue.
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
        // The request stays, to be sent again. The end of the connection is reported separately.
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

    /// Sends the delegate state to the service if it has changed. A rejection is ignored, because
    /// the service then calls the extension.
    func register(_ link: any ServiceLink) {
        if isDelegateWanted != isRegistered {
            isRegistered = isDelegateWanted
            let request: DelegateRequest = isDelegateWanted ? .register : .unregister
            link.call(request.member, []) { _ in }
        }
        if areActivitiesWanted != areActivitiesRegistered {
            areActivitiesRegistered = areActivitiesWanted
            let request: ActivityRequest = areActivitiesWanted ? .register : .unregister
            link.call(request.member, []) { _ in }
        }
    }
}

extension IncomingCall {
    func refuse(_ status: ExtensionStatus, _ message: String) { refuse(name: status.errorName, message: message) }
}
