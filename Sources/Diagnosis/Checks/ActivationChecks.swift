// SPDX-License-Identifier: Apache-2.0

/// Checks that systemd or the session bus starts the service on demand.
enum ActivationChecks {
    static func findings(_ facts: ActivationFacts) -> [Finding] {
        units(facts) + bus(facts) + runtimeFolder(facts)
    }

    private static let install = "Run “make install”, or install the package."

    private static func units(_ facts: ActivationFacts) -> [Finding] {
        if let broken = [facts.service, facts.busFile].compactMap({ $0 }).first(where: { !$0.isProgramThere }) {
            return [
                .problem(
                    .service, "units",
                    "\(broken.path) starts \(broken.program ?? "nothing"), which is not a program on this machine.",
                    costs: "Apps cannot start the service.",
                    advice: "Remove the file if it is from an older installation, or install Searchlight again.")
            ]
        }
        guard facts.hasSystemd else {
            return [
                .note(
                    .service, "units", "systemd does not run this machine.",
                    costs: "Only you and the session bus can start the service.",
                    advice: "Start searchlightd with your session.")
            ]
        }
        guard facts.service != nil, let socket = facts.socket else {
            return [
                .note(
                    .service, "units", "The service's units are not installed in a folder of systemd.",
                    costs: "Only the session bus starts the service for an app.",
                    advice: install)
            ]
        }
        guard facts.isSocketEnabled else {
            return [
                .note(
                    .service, "units", "searchlightd.socket is installed and not enabled.",
                    costs: "Background work waits until something starts the service.",
                    advice: "systemctl --user enable --now searchlightd.service")
            ]
        }
        guard facts.isServiceEnabled else {
            return [
                .note(
                    .service, "units", "The service is not started with your session.",
                    costs: "Changed files are not noticed before a command or an app uses the service.",
                    advice: "systemctl --user enable --now searchlightd.service")
            ]
        }
        if let listens = facts.listens, listens != facts.wanted {
            return [
                .note(
                    .service, "units", "systemd listens at \(listens), and this store's socket is \(facts.wanted).",
                    costs: "No service is started for this store.",
                    advice:
                        "Change ListenStream=: systemctl --user edit searchlightd.socket. Or use the other store.")
            ]
        }
        return [
            .ok(
                .service, "units",
                "systemd starts the service with your session and on demand (\(socket.path)).")
        ]
    }

    private static func bus(_ facts: ActivationFacts) -> [Finding] {
        let cost = "Launchers and sandboxed apps find no index."
        switch facts.bus {
        case .absent:
            return [
                .note(
                    .service, "session-bus",
                    "There is no session bus (DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR).",
                    costs: cost, advice: "Log in to a desktop, or install a session bus (Debian: dbus-user-session).")
            ]
        case .failed(let reason):
            return [
                .problem(
                    .service, "session-bus", "The session bus does not respond. \(reason)", costs: cost,
                    advice: "Log in again, or correct DBUS_SESSION_BUS_ADDRESS.")
            ]
        case .reached(startsService: false):
            return [
                .note(
                    .service, "session-bus", "The session bus cannot start the service.",
                    costs: "Launchers and sandboxed apps find the service only while it runs.",
                    advice: facts.busFile == nil
                        ? install : "Log in again to make the bus read \(facts.busFile?.path ?? "").")
            ]
        case .reached(startsService: true):
            return [.ok(.service, "session-bus", "The session bus starts the service on demand.")]
        }
    }

    private static func runtimeFolder(_ facts: ActivationFacts) -> [Finding] {
        guard let folder = facts.runtimeFolder else {
            return [
                .note(
                    .service, "runtime-folder", "XDG_RUNTIME_DIR is not set.",
                    costs: "systemctl --user and the session bus may not work.",
                    advice: "Log in with your own session instead of su.")
            ]
        }
        guard folder.exists, folder.isFolder else {
            return [
                .note(
                    .service, "runtime-folder", "XDG_RUNTIME_DIR names \(folder.path), which is not a folder.",
                    costs: "systemctl --user and the session bus do not work.", advice: "Log in again.")
            ]
        }
        guard folder.owner == folder.user, folder.mode & 0o077 == 0 else {
            return [
                .problem(
                    .service, "runtime-folder",
                    "\(folder.path) belongs to user \(folder.owner) with mode \(String(folder.mode, radix: 8)), not only to you.",
                    costs: "Other users could replace the session bus, and read your searches.",
                    advice:
                        "If the folder belongs to another user, unset XDG_RUNTIME_DIR. Otherwise: chmod 700 \(folder.path)"
                )
            ]
        }
        return [.ok(.service, "runtime-folder", "Only you have access to \(folder.path).")]
    }
}
