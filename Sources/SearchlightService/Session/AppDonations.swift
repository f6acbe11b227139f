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

    init(bundle: String, registration: DelegateRegistration, core: ServiceCore) {
        self.core = core
        let held = HeldBytes(core.budget)
        self.held = held
        intake = DonationIntake { request throws(DonationRefusal) in
            let token = core.activity.beginRequest()
            defer {
                token.end()
                held.give(Self.size(of: request))
            }
            return try await core.holder.use({ DonationRefusal(status: .unavailable, message: $0.description) }) {
                (engine) throws(DonationRefusal) in
                try await engine.receiver(for: registration.donor).answer(request, from: bundle)
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
        if !intake.take(request, call) { held.give(size) }
    }

    private static func size(of request: IndexRequest) -> Int { request.byteCount + overhead }

    /// Drops what waits, and returns when nothing is being kept any more.
    func end() async {
        await intake.drain()
        held.giveAll()
    }
}

/// What one connection has of the budget of all.
private final class HeldBytes: Sendable {
    private let held = Mutex(0)
    private let budget: ByteBudget

    init(_ budget: ByteBudget) { self.budget = budget }

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
