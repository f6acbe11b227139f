// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages

/// The desktop programs that the service calls over the session bus for a user.
struct DesktopPrograms: Sendable {
    let bus: MessageBus
    let clock: any Clock<Duration>

    /// The time limit for starting a program and receiving its reply.
    private static let patience = Duration.seconds(10)

    /// Copies a text to the clipboard with KDE's Klipper, which runs as part of the desktop.
    func copy(_ text: String) async throws(QueryRefusal) {
        let member = BusMember("org.kde.klipper.klipper", "setClipboardContents")
        try await call("org.kde.klipper", "/klipper", member, [.string(text: text)], isStarted: false)
    }

    /// Shows a file in the file manager, which is started if needed.
    func showInFolder(_ uri: String) async throws(QueryRefusal) {
        let member = BusMember("org.freedesktop.FileManager1", "ShowItems")
        try await call(
            "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1", member,
            [.strings([uri]), .string("")], isStarted: true)
    }

    /// Returns the owner of a name. A running program does not have to have a service file, so the
    /// bus only starts a program if the name has no owner.
    private func owner(of name: String, isStarted: Bool) async throws(BusError) -> String {
        guard isStarted else { return try await bus.owner(of: name) }
        if let owner = try? await bus.owner(of: name) { return owner }
        try await bus.startService(name)
        return try await bus.owner(of: name)
    }

    private func call(
        _ name: String, _ path: String, _ member: BusMember, _ arguments: [BusValue], isStarted: Bool
    ) async throws(QueryRefusal) {
        let asking = Task { () -> Result<Void, BusError> in
            do throws(BusError) {
                _ = try await bus.call(try await owner(of: name, isStarted: isStarted), path: path, member, arguments)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        let timer = clock.timer(after: Self.patience) { asking.cancel() }
        defer { timer.cancel() }
        let result = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }
        do throws(BusError) { try result.get() } catch {
            throw QueryRefusal(
                name: ExtensionStatus.unavailable.errorName,
                message: "\(name) did not do this: \(error.description)")
        }
    }
}
