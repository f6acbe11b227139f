// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import SearchlightEngine
import ServiceMessages
import Synchronization

/// The donor for a connection: the registered delegate, or the app itself.
final class DelegateRegistration: Sendable {
    struct State {
        /// `true` if the app has requested its registration.
        var isWanted = false
        /// The token of the registration with the current engine.
        var token: DelegateToken?
    }
    let state = Mutex(State())

    var donor: Donor { state.withLock { $0.token }.map(Donor.delegate) ?? .app }
}

/// An app's registration as the delegate of its bundle, over its connection. While registered, the
/// app receives its extension's requests.
final class AppDelegate: Sendable {
    private let bundle: String
    private let link: (any ClientLink)?
    private let intake: DonationIntake
    private let registration: DelegateRegistration
    private let core: ServiceCore

    init(
        bundle: String, link: (any ClientLink)?, intake: DonationIntake, registration: DelegateRegistration,
        core: ServiceCore
    ) {
        self.bundle = bundle
        self.link = link
        self.intake = intake
        self.registration = registration
        self.core = core
    }

    func take(_ request: DelegateRequest, _ call: IncomingCall) {
        switch request {
        case .register: register(call)
        case .unregister: unregister(call)
        }
    }

    private func register(_ call: IncomingCall) {
        let problem: EngineError? = registration.state.withLock { state in
            guard !state.isWanted else { return nil }
            state.isWanted = true
            // If the engine is closed for a repair, `rejoin(_:)` registers the app later.
            guard let engine = core.holder.current else { return nil }
            do throws(EngineError) { try enter(engine, &state) } catch {
                state.isWanted = false
                return error
            }
            return nil
        }
        if let problem {
            return call.refuse(name: BusErrorName.limitsExceeded, message: problem.description)
        }
        call.reply()
        askForWhatIsOwed()
    }

    private func unregister(_ call: IncomingCall) {
        leave()
        call.reply()
    }

    func rejoin(_ engine: SearchlightEngine) {
        let hasJoined = registration.state.withLock { state in
            guard state.isWanted, state.token == nil else { return false }
            return (try? enter(engine, &state)) != nil
        }
        if hasJoined { askForWhatIsOwed() }
    }

    func part() { registration.state.withLock { $0.token = nil } }

    func end() { leave() }

    private func enter(_ engine: SearchlightEngine, _ state: inout DelegateRegistration.State) throws(EngineError) {
        guard let link else { return }
        state.token = try engine.registerDelegate(ConnectedDelegate(link: link, intake: intake), for: bundle)
    }

    private func leave() {
        let token = registration.state.withLock { state in
            defer { state = DelegateRegistration.State() }
            return state.token
        }
        if let token { core.holder.inUse?.unregisterDelegate(token) }
    }

    /// Requests a bundle's pending work from its newly registered app.
    private func askForWhatIsOwed() {
        core.background.begin { [core, bundle] in
            let token = core.activity.beginRequest(of: .service)
            defer { token.end() }
            do throws(EngineUnavailable) {
                try await core.holder.use({ $0 }) { (engine) throws(EngineUnavailable) in
                    do throws(EngineError) { _ = try await engine.reindexOwed(bundle) } catch {
                        // Locked items are requested after the next unlocking.
                        guard error != .protection(.locked) else { return }
                        core.log.write(.warning, "The pending reindex of \(bundle) failed. \(error.description)")
                    }
                }
            } catch {
                core.log.write(.warning, "The pending reindex of \(bundle) was not requested. \(error.description)")
            }
        }
    }
}

/// A delegate that is called over its connection.
private struct ConnectedDelegate: LiveDelegate {
    let link: any ClientLink
    let intake: DonationIntake

    func perform(_ request: WorkerRequest) async throws(BusError) -> [BusValue] {
        try await link.call(request.member, request.arguments)
    }

    func settle() async { await intake.settle() }

    func takeLoss() -> BusError? { intake.takeLoss() }
}
