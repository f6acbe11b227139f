// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization

/// An app connection's registration for activities.
final class AppActivities: Sendable {
    private let bundle: String
    private let link: (any ClientLink)?
    private let handlers: ActivityHandlers
    private let token = Mutex<ActivityHandlers.Token?>(nil)

    init(bundle: String, link: (any ClientLink)?, handlers: ActivityHandlers) {
        (self.bundle, self.link, self.handlers) = (bundle, link, handlers)
    }

    func take(_ request: ActivityRequest, _ call: IncomingCall) {
        switch request {
        case .register:
            // The reply is sent first, so that the app knows the outcome before its first activity
            // arrives.
            guard let link, token.withLock({ $0 == nil }) else { return call.reply() }
            guard let registered = handlers.register(link, for: bundle) else {
                return call.refuse(
                    name: BusErrorName.limitsExceeded,
                    message: "\(ActivityHandlers.maximumHandlers) apps of \(bundle) take activities; no more may.")
            }
            token.withLock { $0 = registered }
            call.reply()
            handlers.deliverHeld(of: bundle)
        case .unregister:
            end()
            call.reply()
        }
    }

    func end() {
        let registered = token.withLock { token in
            defer { token = nil }
            return token
        }
        if let registered { handlers.unregister(registered, of: bundle) }
    }
}
