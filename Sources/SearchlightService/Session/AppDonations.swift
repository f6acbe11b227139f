// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import ServiceProtocol
import Synchronization

/// What an app donates: in order, within the bounds of its connection and of the service.
final class AppDonations: Sendable {
    let intake: DonationIntake
    private let core: ServiceCore
    private let held: HeldBytes

    /// What one request costs besides its bytes.
    private static let overhead = 512

    init(bundle: String, link: (any ClientLink)?, registration: DelegateRegistration, core: ServiceCore) {
        self.core = core
        let held = HeldBytes(core.budget)
        self.held = held
        intake = DonationIntake { request throws(DonationRefusal) in
            let token = core.activity.beginRequest()
            defer {
                token.end()
                held.give(Self.size(of: request))
            }
            let visitor = EngineHolder.Visitor(
                owner: ObjectIdentifier(held), isAwaited: registration.state.withLock { $0.token != nil })
            let refusal: (EngineAbsence) -> DonationRefusal = { absence in
                // Not refused: what is not answered is sent again, to the service that comes after this one.
                if case .stopped = absence { link?.close() }
                return DonationRefusal(status: .unavailable, message: absence.description)
            }
            return try await core.holder.use(refusal, as: visitor) { (engine) throws(DonationRefusal) in
                // Its successor may have begun while this one waited.
                guard !held.isOver else { throw refusal(.cancelled) }
                return try await core.largeDonations.during(request.byteCount) { () throws(DonationRefusal) in
                    try await engine.receiver(for: registration.donor).answer(request, from: bundle)
                }
            }
        }
    }

    func take(_ request: IndexRequest, _ call: IncomingCall) {
        let size = Self.size(of: request)
        guard held.take(size) else {
            return call.refuse(
                name: BusErrorName.limitsExceeded,
                message: """
                    Donations of all apps that wait to be kept have more than \(core.budget.limit) bytes. Wait for \
                    completions.
                    """)
        }
        // The request has the bytes; the call would hold the whole message until it is answered.
        call.releaseArguments()
        if !intake.take(request, call) { held.give(size) }
    }

    private static func size(of request: IndexRequest) -> Int { request.byteCount + overhead }

    /// Drops what waits, and returns when nothing is being kept any more.
    func end() async {
        held.end()
        core.holder.dismiss(ObjectIdentifier(held))
        await intake.drain()
        held.giveAll()
    }
}

/// What one connection has of the budget of all.
private final class HeldBytes: Sendable {
    private let held = Mutex(0)
    private let over = Atomic(false)
    private let budget: ByteBudget

    init(_ budget: ByteBudget) { self.budget = budget }

    /// Whether the connection is over.
    var isOver: Bool { over.load(ordering: .acquiring) }

    func end() { over.store(true, ordering: .releasing) }

    func take(_ count: Int) -> Bool {
        guard budget.take(count) else { return false }
        held.withLock { $0 += count }
        return true
    }

    func give(_ count: Int) {
        held.withLock { $0 -= count }
        budget.give(count)
    }

    func giveAll() {
        let rest = held.withLock { held in
            defer { held = 0 }
            return held
        }
        budget.give(rest)
    }
}
