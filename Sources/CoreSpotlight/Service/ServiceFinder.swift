// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
internal import ServiceMessages
internal import SystemSupport

/// Finds the service of a store: by the socket in the store's folder; starts it, where something does that; and speaks
/// with it over the session bus where its socket cannot be seen although it runs, as from inside of a sandbox.
struct ServiceFinder: ServiceOpener {
    let location: StoreLocation
    /// Whether it is the store that the user's service has without being told otherwise.
    var isUsual = true
    /// Has the service started and returns once it was; `nil` where nothing does that.
    var activate: (@Sendable () throws(BusError) -> Void)?
    /// The address of the session bus, where the service of this store may be spoken with over it.
    var sessionBus: String?

    /// Finds the service of the user whose process has these variables.
    ///
    /// The session bus starts the service of the usual store, so it is asked for that one only, and only where there is a
    /// bus.
    static func of(_ environment: [String: String]) -> ServiceFinder {
        var finder = ServiceFinder(
            location: StoreLocation(environment: environment), isUsual: environment.variable("SEARCHLIGHT_STORE") == nil
        )
        guard finder.isUsual, let address = SessionBusAddress.find(in: environment) else { return finder }
        finder.activate = { () throws(BusError) in try SessionBusLink.startService(address: address) }
        finder.sessionBus = address
        return finder
    }

    func open(
        onCall: @escaping BusConnection.CallHandler, onDisconnect: @escaping @Sendable () -> Void
    ) throws(BusError) -> any ServiceLink {
        guard let socket = try connect() else { return try openBus(onCall, onDisconnect) }
        do throws(BusError) {
            return try BusConnection(
                adopting: socket, side: .client, name: "searchlight-bus", onCall: onCall,
                onDisconnect: { _ in onDisconnect() })
        } catch {
            throw error
        }
    }

    private func openBus(
        _ onCall: @escaping BusConnection.CallHandler, _ onDisconnect: @escaping @Sendable () -> Void
    ) throws(BusError) -> any ServiceLink {
        guard let sessionBus else { throw BusError.disconnected }
        do throws(BusError) {
            return try SessionBusLink(address: sessionBus, onCall: onCall, onDisconnect: onDisconnect)
        } catch {
            throw BusError.unreachable(
                "The service's socket \(location.socketPath) cannot be seen from here, and speaking with it over the "
                    + "session bus failed: \(error)")
        }
    }

    /// The socket of the service; `nil` if it runs and its socket cannot be seen.
    private func connect() throws(BusError) -> OwnedDescriptor? {
        let refusal: ServiceSocketError
        do throws(ServiceSocketError) { return try ServiceSocket.connect(inFolder: location.folder) } catch {
            refusal = error
        }
        guard refusal.isWithoutService || (refusal.isUnseen && sessionBus != nil), let activate else {
            throw failure(refusal)
        }
        do throws(BusError) { try activate() } catch {
            let message = "\(refusal) Starting it failed: \(error) \(advice)"
            if case .absent = refusal { throw .remote(name: ServiceErrorName.absent, message: message) }
            throw .unreachable(message)
        }
        do throws(ServiceSocketError) { return try ServiceSocket.connect(inFolder: location.folder) } catch {
            if error.isUnseen, sessionBus != nil { return nil }
            // It was started, and may be about to listen.
            throw .unreachable(failure(error).advice)
        }
    }

    /// What to do. The user's manager starts the service of the usual store, and no other.
    private var advice: String {
        isUsual
            ? "Start it with systemctl --user start searchlightd, or run searchlightd in a terminal."
            : "Start it in a terminal: searchlightd, with the same SEARCHLIGHT_STORE."
    }

    private func failure(_ error: ServiceSocketError) -> BusError {
        switch error {
        case .absent: BusError.remote(name: ServiceErrorName.absent, message: "\(error) \(advice)")
        case .nobodyListens: BusError.unreachable("\(error) \(advice)")
        case .notPermitted, .notASocket, .busy, .notInherited, .anotherUser, .system:
            BusError.unreachable(error.description)
        }
    }
}

extension ServiceSocketError {
    /// Whether the socket may be there all the same, where this process cannot look.
    fileprivate var isUnseen: Bool {
        switch self {
        case .absent, .notPermitted: true
        case .nobodyListens, .notASocket, .busy, .notInherited, .anotherUser, .system: false
        }
    }

    fileprivate var isWithoutService: Bool {
        switch self {
        case .absent, .nobodyListens: true
        case .notPermitted, .notASocket, .busy, .notInherited, .anotherUser, .system: false
        }
    }
}
