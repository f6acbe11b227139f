// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import BusTransport
internal import ServiceMessages

/// Who this process is to the service.
struct ProcessIdentity: Sendable, Hashable {
    /// The bundle the process says it acts for; the service takes a sandboxed one's from its sandbox.
    let bundle: String?
    /// The name of the program, for logs.
    let program: String

    /// Finds out who a process is: by `SEARCHLIGHT_BUNDLE_IDENTIFIER`, else by its bundle, else by the desktop file it was
    /// started from.
    ///
    /// - Parameters:
    ///   - environment: The variables of the process.
    ///   - bundleIdentifier: `CFBundleIdentifier` of its main bundle.
    ///   - processIdentifier: Its number; a desktop file of another process, which this one inherited, does not count.
    ///   - program: The path it was started by.
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

    /// Who this process is.
    static func current() -> ProcessIdentity {
        let process = ProcessInfo.processInfo
        return ProcessIdentity(
            environment: process.environment, bundleIdentifier: Bundle.main.bundleIdentifier,
            processIdentifier: process.processIdentifier, program: process.arguments.first ?? "")
    }

    /// What it says first.
    var hello: Hello { Hello(role: .app, bundle: bundle, program: program) }

    /// What to do about a refusal, if the reason may be that the process did not say which app it is.
    func explain(_ failure: BusError) -> BusError {
        guard bundle == nil, case .remote(let name, let message) = failure, name == ServiceErrorName.accessDenied else {
            return failure
        }
        return .remote(
            name: name,
            message: "The index of this app cannot be reached, for it is not known which app this is. Set "
                + "SEARCHLIGHT_BUNDLE_IDENTIFIER in the program's environment (such as com.example.notes), put an "
                + "Info.plist with a CFBundleIdentifier beside the program, or start it from a desktop file. "
                + "The service said: \(message)")
    }
}

extension [String: String] {
    /// What a variable says; one that is empty counts as unset.
    func variable(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
