// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import BusTransport
internal import ServiceMessages

/// The identity of this process, as sent to the service.
struct ProcessIdentity: Sendable, Hashable {
    /// The bundle that the process declares. For a sandboxed process the service uses the sandbox's
    /// bundle instead.
    let bundle: String?
    /// The name of the program, for logs.
    let program: String

    /// Determines the identity of a process: from `SEARCHLIGHT_BUNDLE_IDENTIFIER`, or else from its
    /// bundle, or else from the desktop file that launched it.
    ///
    /// - Parameters:
    ///   - environment: The process's environment variables.
    ///   - bundleIdentifier: The `CFBundleIdentifier` of its main bundle.
    ///   - processIdentifier: The process ID. A desktop file that this process inherited from
    ///     another process is ignored.
    ///   - program: The path of the program.
    init(environment: [String: String], bundleIdentifier: String?, processIdentifier: Int32, program: String) {
        var desktopFile: String?
        if environment.variable("GIO_LAUNCHED_DESKTOP_FILE_PID") == String(processIdentifier),
            let file = environment.variable("GIO_LAUNCHED_DESKTOP_FILE")?.split(separator: "/").last,
            file.hasSuffix(".desktop")
        {
            desktopFile = String(file.dropLast(".desktop".count))
        }
        bundle =
            environment.variable("SEARCHLIGHT_BUNDLE_IDENTIFIER") ?? bundleIdentifier.flatMap { $0.isEmpty ? nil : $0 }
            ?? desktopFile.flatMap { $0.isEmpty ? nil : $0 }
        let name = program.split(separator: "/").last.map(String.init) ?? ""
        var short = ""
        for character in name where short.utf8.count + character.utf8.count <= Hello.maximumProgramBytes {
            short.append(character)
        }
        self.program = short.replacing("\0", with: "")
    }

    /// Returns the identity of this process.
    static func current() -> ProcessIdentity {
        let process = ProcessInfo.processInfo
        return ProcessIdentity(
            environment: process.environment, bundleIdentifier: Bundle.main.bundleIdentifier,
            processIdentifier: process.processIdentifier, program: process.arguments.first ?? "")
    }

    /// The first message to the service.
    var hello: Hello { Hello(role: .app, bundle: bundle, program: program) }

    /// Adds advice to a rejection that may be caused by a missing bundle identifier.
    func explain(_ failure: BusError) -> BusError {
        guard bundle == nil, case .remote(let name, let message) = failure, name == ServiceErrorName.accessDenied else {
            return failure
        }
        return .remote(
            name: name,
            message: "The index of this app is not available, because this process has no bundle identifier. Set "
                + "SEARCHLIGHT_BUNDLE_IDENTIFIER in the program's environment (such as com.example.notes), put an "
                + "Info.plist with a CFBundleIdentifier beside the program, or start it from a desktop file. "
                + "The service said: \(message)")
    }
}

extension [String: String] {
    /// Returns the value of a variable; `nil` if it is unset or empty.
    func variable(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
