// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
internal import ServiceMessages
internal import SystemSupport

/// Connects to a store's service.
///
/// It connects to the socket in the store's folder, and starts the service if possible. If the
/// service runs but its socket is not visible, for example in a sandbox, it uses the session bus.
struct ServiceFinder: ServiceOpener {
    let location: StoreLocation
    /// `true` for the default store of the user's service.
    var isUsual = true
    /// Starts the service and returns when it is running; `nil` if it cannot be started.
    var activate: (@Sendable () throws(BusError) -> Void)?
    /// The address of the session bus, if the service of this store can be reached there.
    var sessionBus: String?

    /// Returns the connector for the user whose process has these environment variables.
    ///
    /// The session bus can only start the service of the default store. So the bus is only used for
    /// that store, if there is a bus.
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
                "The service's socket \(location.socketPath) is not visible from here, and the connection over the "
                    + "session bus failed: \(error)")
        }
    }

    /// Connects to the service's socket; `nil` if the service is running but its socket is not
    /// visible.
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
            // The service was started and may listen soon.
            throw .unreachable(failure(error).advice)
        }
    }

    /// The remedy in an error message. The user's service manager only starts the service of the
    /// default store.
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
    /// `true` if the socket may exist at a path that is not visible to this process.
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
