// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import Glibc
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightService

/// Calls every method of the service, as real programs on a bus that have no right to.
@Suite(
    "Programs without rights on the session bus",
    .enabled(if: PrivateBus.isAvailable && access("/usr/bin/gdbus", X_OK) == 0, "needs dbus-daemon and gdbus"),
    .timeLimit(.minutes(10)))
struct BusRightsTests {
    /// A call in the syntax of gdbus.
    private struct Call {
        var name: String
        var arguments: [String]

        /// A command that makes the call and prints the name, a tab, and the answer on one line.
        func command(_ address: String) -> String {
            let words =
                [
                    "gdbus", "call", "--timeout", "300", "--address", address, "--dest", MessageBus.serviceName,
                    "--object-path",
                    BusTarget.searchlightPath, "--method", name,
                ] + arguments
            let quoted = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
            return "printf '%s\\t%s\\n' \(name) \"$(\(quoted) 2>&1 | tr '\\n' ' ')\"\n"
        }
    }

    /// Returns a call of each method in the introspection document, and of the interfaces that it
    /// omits.
    private func calls(_ document: String) throws -> [Call] {
        func attribute(_ name: String, _ line: Substring) -> String? {
            guard let start = line.firstRange(of: "\(name)=\"")?.upperBound else { return nil }
            return String(line[start...].prefix { $0 != "\"" })
        }
        var calls: [Call] = []
        var interface = ""
        for line in document.split(separator: "\n") {
            let name = attribute("name", line) ?? ""
            if line.contains("<interface ") { interface = name }
            if interface.hasPrefix("org.freedesktop.DBus") { continue }
            if line.contains("<method ") { calls.append(Call(name: "\(interface).\(name)", arguments: [])) }
            if line.contains("<arg "), attribute("direction", line) == "in" {
                let argument =
                    switch (name, attribute("type", line) ?? "") {
                    case ("role", _): "'shell'"
                    case ("bundle", _): "''"
                    case ("version", _): "uint64 \(Hello.currentVersion)"
                    case (_, "s"): "'zebracorn'"
                    case (_, "t"): "uint64 1"
                    case (_, "u"): "uint32 1"
                    case (_, "b"): "true"
                    case (_, "as"): "['zebracorn']"
                    case (_, "ay"): "@ay []"
                    case (_, "a{sv}"): "@a{sv} {}"
                    case (_, let type): throw Unknown(type: type)
                    }
                calls[calls.count - 1].arguments.append(argument)
            }
        }
        calls.append(
            Call(
                name: "\(AdminRequest.performMember.interface).\(AdminRequest.performMember.member)",
                arguments: ["'status'", "uint64 1", "@a{sv} {}"]))
        let covered = Set(calls.map { $0.name.split(separator: ".").dropLast().joined(separator: ".") })
        for kind in ClientInterface.all where !covered.contains(kind.interface) {
            calls.append(Call(name: "\(kind.interface).Nothing", arguments: []))
        }
        return calls
    }

    private struct Unknown: Error { var type: String }

    /// A service with an item, on a bus.
    private func service(on bus: PrivateBus) async throws -> (service: TestService, calls: [Call]) {
        let service = try await TestService { $0.sessionBus = bus.address }
        try await service.app().donate(["a"], title: "zebracorn meeting")
        let client = try await BusTestClient(bus)
        let introspect = BusMember("org.freedesktop.DBus.Introspectable", "Introspect")
        guard case .string(let document) = try await client.call(introspect, []).first else {
            throw BusError.malformed("no document")
        }
        #expect(try await eventually { try await !client.search("zebracorn").isEmpty })
        return (service, try calls(document))
    }

    /// Checks that each call was refused, and that no answer contains the item.
    private func expectRefusals(_ output: String, _ calls: [Call]) {
        let answers = output.split(separator: "\n").map { $0.split(separator: "\t", maxSplits: 1) }
        #expect(answers.map { $0.first.map(String.init) } == calls.map(\.name), "\(output)")
        for answer in answers {
            let text = answer.last ?? ""
            #expect(text.contains(ServiceErrorName.accessDenied) && !text.contains("meeting"), "\(answer)")
        }
    }

    @Test("The user's own programs outside a sandbox may search, so the calls of these tests are valid")
    func ownPrograms() async throws {
        let bus = try PrivateBus()
        let (service, calls) = try await service(on: bus)
        let searches = calls.filter { call in
            ["Search1.Search", "Search1.Suggest", "SearchProvider2.GetInitialResultSet", "krunner1.Match"].contains {
                call.name.hasSuffix($0)
            }
        }
        #expect(searches.count == 4)
        let script = searches.map { $0.command(bus.address) }.joined()
        let (_, output) = try await Program.run("/bin/sh", ["-c", script])
        #expect(!output.contains(ServiceErrorName.accessDenied) && output.contains("meeting"), "\(output)")
        await service.stop()
    }

    @Test("An app in a Flatpak sandbox can make no call of a launcher, a desktop or a tool")
    func sandboxedApp() async throws {
        guard let flatpak = try FlatpakCommand("org.gnome.Maps") else { return }
        let bus = try PrivateBus()
        let (service, calls) = try await service(on: bus)
        let script = calls.map { $0.command("unix:path=/run/bus") }.joined()
        let (_, output) = try await flatpak.run(["/bin/sh", "-c", script], bus: bus)
        expectRefusals(output, calls)
        await service.stop()
    }

    @Test(
        "Another user that the bus admits can make no call",
        .enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs root and setpriv"))
    func otherUser() async throws {
        let bus = try PrivateBus(admitsOtherUsers: true)
        try #require(chmod(bus.folder.path, 0o755) == 0)
        let (service, calls) = try await service(on: bus)
        let script = calls.map { $0.command("unix:path=\(bus.folder.path("bus"))") }.joined()
        let other = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/sh", "-c", script]
        let (_, output) = try await Program.run("/usr/bin/setpriv", other)
        expectRefusals(output, calls)
        #expect(service.lines.contains("runs as user 65534"))
        await service.stop()
    }
}
