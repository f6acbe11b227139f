// SPDX-License-Identifier: Apache-2.0

internal import ServiceProtocol

/// Finds the service of a store: by the socket in the store's folder; and starts it, where something does that.
struct ServiceFinder: ServiceOpener {
    let location: StoreLocation
    /// Has the service started and returns once it was; `nil` where nothing does that.
    var activate: (@Sendable () throws(BusError) -> Void)?

    /// Finds the service of the user whose process has these variables.
    ///
    /// The session bus starts the service of the usual store, so it is asked for that one only, and only where there is a
    /// bus.
    static func of(_ environment: [String: String]) -> ServiceFinder {
        func isSet(_ name: String) -> Bool { environment[name]?.isEmpty == false }
        let isUsual = !isSet("SEARCHLIGHT_STORE") && isSet("DBUS_SESSION_BUS_ADDRESS")
        var finder = ServiceFinder(location: StoreLocation(environment: environment))
        if isUsual { finder.activate = { () throws(BusError) in try ServiceActivation.start() } }
        return finder
    }

    func open(
        onCall: @escaping BusConnection.CallHandler, onDisconnect: @escaping @Sendable () -> Void
    ) throws(ServiceFailure) -> any ServiceLink {
        let socket = try connect()
        do throws(BusError) {
            return try BusConnection(
                adopting: socket, side: .client, name: "searchlight-bus", onCall: onCall,
                onDisconnect: { _ in onDisconnect() })
        } catch {
            throw ServiceFailure(error)
        }
    }

    private func connect() throws(ServiceFailure) -> OwnedDescriptor {
        let refusal: ServiceSocketError
        do throws(ServiceSocketError) { return try ServiceSocket.connect(inFolder: location.folder) } catch {
            refusal = error
        }
        guard refusal.isWithoutService, let activate else { throw Self.failure(refusal) }
        do throws(BusError) { try activate() } catch {
            throw ServiceFailure(Self.failure(refusal).kind, "\(refusal) Starting it failed: \(error) \(Self.advice)")
        }
        do throws(ServiceSocketError) { return try ServiceSocket.connect(inFolder: location.folder) } catch {
            // It was started, and may be about to listen.
            throw ServiceFailure(.unreachable, Self.failure(error).message)
        }
    }

    private static let advice =
        "Start it with systemctl --user start searchlightd, or run searchlightd in a terminal."

    private static func failure(_ error: ServiceSocketError) -> ServiceFailure {
        switch error {
        case .absent: ServiceFailure(.absent, "\(error) \(advice)")
        case .nobodyListens: ServiceFailure(.unreachable, "\(error) \(advice)")
        case .notPermitted, .notASocket, .busy, .notInherited, .system:
            ServiceFailure(.unreachable, error.description)
        }
    }
}

extension ServiceSocketError {
    fileprivate var isWithoutService: Bool {
        switch self {
        case .absent, .nobodyListens: true
        case .notPermitted, .notASocket, .busy, .notInherited, .system: false
        }
    }
}
