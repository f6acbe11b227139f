// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import BusTransport
import ServiceMessages
import Synchronization

/// The running apps that accept activities, and the activities that are kept for apps that are
/// being launched.
///
/// An activity is delivered once to one app: to the newest handler of its bundle, or to the first
/// app that registers while the activity is kept. May be used from any thread.
final class ActivityHandlers: ActivityCarrier {
    /// The identity of a registration.
    struct Token: Hashable, Sendable {
        let number: UInt64
    }

    private struct Handler: Sendable {
        let token: Token
        let link: any ClientLink
    }

    /// A kept activity.
    private final class Held: Sendable {
        let number: UInt64
        let activity: LaunchActivity
        /// `true` while the service waits for an app's reply. During that time it offers the
        /// activity to no other app.
        let isOffered = Atomic(false)
        /// The registrations that the activity was offered to.
        let asked = Mutex<Set<Token>>([])
        private let outcome: AsyncStream<Bool>
        private let continuation: AsyncStream<Bool>.Continuation
        let timer = Mutex<Task<Void, Never>?>(nil)

        init(number: UInt64, activity: LaunchActivity) {
            (self.number, self.activity) = (number, activity)
            (outcome, continuation) = AsyncStream.makeStream(of: Bool.self)
        }

        /// Sets the outcome; later outcomes are ignored.
        func end(_ isTaken: Bool) {
            timer.withLock { $0 }?.cancel()
            continuation.yield(isTaken)
            continuation.finish()
        }

        func value() async -> Bool {
            for await isTaken in outcome { return isTaken }
            return false
        }
    }

    private struct State {
        var last: UInt64 = 0
        /// The handlers of each bundle, oldest first.
        var handlers: [String: [Handler]] = [:]
        /// The kept activities of each bundle, oldest first.
        var held: [String: [Held]] = [:]
        /// The last activity that each handler declined.
        var declined: [Token: LaunchActivity] = [:]
    }
    private let state = Mutex(State())
    private let clock: any Clock<Duration>
    private let activity: ServiceActivity

    /// The maximum number of handlers for a bundle; an app may run several times.
    static let maximumHandlers = 16
    /// The maximum number of kept activities for one bundle, and for all bundles.
    static let (maximumHeld, maximumHeldInAll) = (8, 64)
    /// The time for which an activity is kept.
    static let patience = Duration.seconds(30)
    /// The time limit for an app's reply that it accepts an activity.
    static let answerTime = Duration.seconds(5)

    init(clock: any Clock<Duration>, activity: ServiceActivity) { (self.clock, self.activity) = (clock, activity) }

    // MARK: Apps

    /// Returns `true` if one of a bundle's running apps accepts activities.
    func hasHandler(of bundle: String) -> Bool { state.withLock { $0.handlers[bundle] != nil } }

    /// Registers an app. ``deliverHeld(of:)`` then sends it the activities that are kept for its
    /// bundle.
    ///
    /// - Returns: `nil` if the bundle has too many handlers.
    func register(_ link: any ClientLink, for bundle: String) -> Token? {
        state.withLock { state -> Token? in
            guard (state.handlers[bundle]?.count ?? 0) < Self.maximumHandlers else { return nil }
            state.last += 1
            let token = Token(number: state.last)
            state.handlers[bundle, default: []].append(Handler(token: token, link: link))
            return token
        }
    }

    /// Ends a registration.
    func unregister(_ token: Token, of bundle: String) {
        state.withLock { state in
            state.handlers[bundle]?.removeAll { $0.token == token }
            if state.handlers[bundle]?.isEmpty == true { state.handlers[bundle] = nil }
            state.declined[token] = nil
        }
    }

    /// Sends a bundle's kept activities to its handlers.
    func deliverHeld(of bundle: String) {
        let waiting = state.withLock { $0.held[bundle] ?? [] }
        for held in waiting where held.isOffered.exchange(true, ordering: .acquiringAndReleasing) == false {
            Task { [self] in
                let token = activity.beginRequest(of: .service)
                defer { token.end() }
                while let handler = next(for: held, of: bundle) {
                    guard let isTaken = await ask(handler.link, held.activity) else { continue }
                    // This is the reply of the app that was launched, even if it declines. Handlers
                    // that have already declined are not asked again.
                    return end(held.number, isTaken: isTaken)
                }
            }
        }
    }

    /// Returns the newest handler that has not been asked yet. If there is none, marks the
    /// activity, so that the next handler that registers is asked. Both steps take place under one
    /// lock, so no registration is missed.
    private func next(for held: Held, of bundle: String) -> Handler? {
        state.withLock { state in
            let handler = state.handlers[bundle]?.last { handler in
                held.asked.withLock { $0.insert(handler.token).inserted }
            }
            if handler == nil { held.isOffered.store(false, ordering: .releasing) }
            return handler
        }
    }

    /// Calls an app. Returns its reply; `nil` if the call fails or the app does not reply in time.
    private func ask(_ link: any ClientLink, _ activity: LaunchActivity) async -> Bool? {
        let continued: ContinuedActivity =
            switch activity {
            case .item(let identifier): .item(identifier)
            case .search(let text): .search(text)
            }
        let call = Task { () -> Bool? in
            guard let values = try? await link.call(continued.member, continued.arguments) else { return nil }
            var arguments = BusArguments(values, of: continued.member.member)
            return try? arguments.boolean()
        }
        let timer = clock.timer(after: Self.answerTime) { call.cancel() }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await call.value
        } onCancel: {
            call.cancel()
        }
    }

    // MARK: Openers

    func offer(_ activity: LaunchActivity, to bundle: String) async -> Bool {
        let handlers = state.withLock { $0.handlers[bundle] ?? [] }
        for handler in handlers.reversed() {
            if await ask(handler.link, activity) == true { return true }
            state.withLock { state in
                let isRegistered = state.handlers[bundle]?.contains { $0.token == handler.token } == true
                if isRegistered { state.declined[handler.token] = activity }
            }
        }
        return false
    }

    func hold(_ activity: LaunchActivity, for bundle: String) async -> HeldActivity? {
        let (held, isStarting) = state.withLock { state -> (Held?, Bool) in
            let count = state.held[bundle]?.count ?? 0
            guard count < Self.maximumHeld,
                state.held.values.reduce(0, { $0 + $1.count }) < Self.maximumHeldInAll
            else { return (nil, false) }
            state.last += 1
            let held = Held(number: state.last, activity: activity)
            let declined = state.declined.filter { $0.value == activity }.map(\.key)
            held.asked.withLock { $0.formUnion(declined) }
            state.held[bundle, default: []].append(held)
            return (held, count > 0)
        }
        guard let held else { return nil }
        let token = self.activity.beginRequest(of: .service)
        let timer = clock.timer(after: Self.patience) { [weak self] in self?.end(held.number, isTaken: false) }
        held.timer.withLock { $0 = timer }
        // An app that registered in between may already have taken the activity.
        if find(held.number) == nil { timer.cancel() }
        Task {
            await timer.value
            token.end()
        }
        // The app may have registered since the caller checked.
        deliverHeld(of: bundle)
        return HeldActivity(number: held.number, isStarting: isStarting)
    }

    func isTaken(_ number: UInt64) async -> Bool {
        guard let held = find(number) else { return ended.withLock { $0.contains(number) } }
        return await withTaskCancellationHandler {
            await held.value()
        } onCancel: {
            self.end(number, isTaken: false)
        }
    }

    func drop(_ number: UInt64) async { end(number, isTaken: false) }

    /// The activities that were taken most recently, for a caller that asks afterwards.
    private let ended = Mutex<[UInt64]>([])

    private func find(_ number: UInt64) -> Held? {
        state.withLock { state in state.held.values.lazy.joined().first { $0.number == number } }
    }

    private func end(_ number: UInt64, isTaken: Bool) {
        let held = state.withLock { state -> Held? in
            for (bundle, all) in state.held {
                guard let found = all.first(where: { $0.number == number }) else { continue }
                let rest = all.filter { $0.number != number }
                state.held[bundle] = rest.isEmpty ? nil : rest
                return found
            }
            return nil
        }
        guard let held else { return }
        if isTaken {
            ended.withLock { ended in
                ended.append(number)
                if ended.count > Self.maximumHeldInAll { ended.removeFirst() }
            }
        }
        held.end(isTaken)
    }
}
