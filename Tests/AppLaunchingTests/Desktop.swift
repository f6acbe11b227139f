// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import AppLaunching

/// An invented desktop: folders with desktop entries, lists of default apps and programs.
struct Desktop {
    let folder: TemporaryFolder
    var variables: [String: String] = [:]

    init() throws {
        folder = try TemporaryFolder()
        for name in ["data/applications", "shared/applications", "config", "etc", "bin", "system"] {
            try FileManager.default.createDirectory(
                atPath: folder.path(name), withIntermediateDirectories: true)
        }
        // The machine's MIME types without its apps.
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("system/mime"), withDestinationPath: "/usr/share/mime")
    }

    var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_DATA_HOME": folder.path("data"),
            "XDG_DATA_DIRS": folder.path("shared") + ":" + folder.path("system"),
            "XDG_CONFIG_HOME": folder.path("config"),
            "XDG_CONFIG_DIRS": folder.path("etc"), "PATH": folder.path("bin") + ":/usr/bin:/bin",
        ].merging(variables) { $1 }
    }

    /// The file in which each started app writes a line with its arguments, separated by tabs.
    var log: String { folder.path("log") }

    func write(_ text: String, to name: String) throws { try folder.write(Array(text.utf8), to: name) }

    /// Adds a program that writes its arguments to the log and then runs a command. By default, it
    /// ends.
    @discardableResult
    func addProgram(_ name: String, then body: String = "exit 0") throws -> String {
        let path = try folder.write(
            Array("#!/bin/sh\n{ printf '%s' \(name); printf '\\t%s' \"$@\"; echo; } >> '\(log)'\n\(body)\n".utf8),
            to: "bin/\(name)")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    func addEntry(_ identifier: String, in place: String = "data", _ lines: String...) throws {
        try write(
            "[Desktop Entry]\nType=Application\nName=\(identifier)\n" + lines.joined(separator: "\n") + "\n",
            to: "\(place)/applications/\(identifier)")
    }

    /// The lines of the log.
    var started: [String] {
        ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    func target(
        _ resource: LaunchResource? = nil, of bundle: String = "org.example.notes", entry: String? = nil,
        owns: Bool = true, refusal: LaunchTarget.Refusal? = nil
    ) -> LaunchTarget {
        LaunchTarget(
            bundle: bundle, bundleName: bundle, identifier: "i", title: "Title",
            desktopEntry: entry ?? bundle + ".desktop",
            ownsEntry: owns, activity: .item("i"), resource: resource, refusal: refusal, contentType: nil)
    }

    func plan(_ target: LaunchTarget) throws -> LaunchPlan { try LaunchPlanner(environment: environment).plan(target) }
}
