// SPDX-License-Identifier: Apache-2.0

/// Checks that systemd or the session bus starts the service on demand.
enum ActivationChecks {
    static func findings(_ facts: ActivationFacts) -> [Finding] {
        units(facts) + bus(facts) + runtimeFolder(facts)
    }

    private static let install = "make install, or the package, brings it."

    private static func units(_ facts: ActivationFacts) -> [Finding] {
        if let broken = [facts.service, facts.busFile].compactMap({ $0 }).first(where: { !$0.isProgramThere }) {
            return [
                .problem(
                    .service, "units",
                    "\(broken.path) starts \(broken.program ?? "nothing"), which is no program here.",
                    costs: "Apps that ask for the service get none.",
                    advice: "Remove what an older installation left, or install Searchlight again.")
            ]
        }
        guard facts.hasSystemd else {
            return [
                .note(
                    .service, "units", "systemd does not run this machine.",
                    costs: "Only the session bus starts the service, or you do.",
                    advice: "Have searchlightd started with your session.")
            ]
        }
        guard facts.service != nil, let socket = facts.socket else {
            return [
                .note(
                    .service, "units", "The service's units are not installed where systemd looks.",
                    costs: "Nothing starts the service when an app asks for it, unless the session bus does.",
                    advice: install)
            ]
        }
        guard facts.isSocketEnabled else {
            return [
                .note(
                    .service, "units", "searchlightd.socket is installed and not enabled.",
                    costs: "Nothing is done in the background until something starts the service.",
                    advice: "systemctl --user enable --now searchlightd.service")
            ]
        }
        guard facts.isServiceEnabled else {
            return [
                .note(
                    .service, "units", "The service is not started with your session.",
                    costs: "Changed files are noticed only once a command or an app has asked for the service.",
                    advice: "systemctl --user enable --now searchlightd.service")
            ]
        }
        if let listens = facts.listens, listens != facts.wanted {
            return [
                .note(
                    .service, "units", "systemd listens at \(listens), and this store's socket is \(facts.wanted).",
                    costs: "No service is started for this store.",
                    advice:
                        "Change ListenStream= with systemctl --user edit searchlightd.socket, or use the other store.")
            ]
        }
        return [
            .ok(
                .service, "units",
                "systemd starts the service with your session and when it is asked for (\(socket.path)).")
        ]
    }

    private static func bus(_ facts: ActivationFacts) -> [Finding] {
        let cost = "Launchers and sandboxed apps find no index."
        switch facts.bus {
        case .absent:
            return [
                .note(
                    .service, "session-bus",
                    "There is no session bus here (DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR).",
                    costs: cost, advice: "Log in to a desktop, or install one's bus (Debian: dbus-user-session).")
            ]
        case .failed(let reason):
            return [
                .problem(
                    .service, "session-bus", "The session bus cannot be spoken with. \(reason)", costs: cost,
                    advice: "Log in again, or correct DBUS_SESSION_BUS_ADDRESS.")
            ]
        case .reached(startsService: false):
            return [
                .note(
                    .service, "session-bus", "The session bus does not know how to start the service.",
                    costs: "Launchers and sandboxed apps find it only while it runs.",
                    advice: facts.busFile == nil
                        ? install : "Log in again, so that the bus reads \(facts.busFile?.path ?? "").")
            ]
        case .reached(startsService: true):
            return [.ok(.service, "session-bus", "The session bus starts the service when it is called there.")]
        }
    }

    private static func runtimeFolder(_ facts: ActivationFacts) -> [Finding] {
        guard let folder = facts.runtimeFolder else {
            return [
                .note(
                    .service, "runtime-folder", "XDG_RUNTIME_DIR is not set.",
                    costs: "systemctl --user and the session bus may not be found.",
                    advice: "Log in with a session of your own, not with su.")
            ]
        }
        guard folder.exists, folder.isFolder else {
            return [
                .note(
                    .service, "runtime-folder", "XDG_RUNTIME_DIR names \(folder.path), which is no folder.",
                    costs: "systemctl --user and the session bus are not found.", advice: "Log in again.")
            ]
        }
        guard folder.owner == folder.user, folder.mode & 0o077 == 0 else {
            return [
                .problem(
                    .service, "runtime-folder",
                    "\(folder.path) belongs to user \(folder.owner) with mode \(String(folder.mode, radix: 8)), not to you alone.",
                    costs: "Others may put a bus of their own there, and hear what you search.",
                    advice: "Unset XDG_RUNTIME_DIR if it is another user's, else: chmod 700 \(folder.path)")
            ]
        }
        return [.ok(.service, "runtime-folder", "\(folder.path) is yours alone.")]
    }
}
