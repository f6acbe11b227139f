// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import Glibc
import SearchlightEngine
import ServiceMessages
import Synchronization
import SystemSupport
import Testing

/// Services that hang, have a different version, or exit at a bad time: the command reports the
/// problem and the remedy.
@Suite("Services that misbehave", .timeLimit(.minutes(10)))
struct ServiceProblemTests {
    /// A fake service at the socket of a store that answers as configured.
    private final class Fake: Sendable {
        private let listener: OwnedDescriptor
        private let path: String
        private let connections = Mutex<[BusConnection]>([])

        init(_ harness: Harness, _ answer: @escaping @Sendable (IncomingCall, Fake) -> Void) throws {
            path = harness.store + "/socket"
            listener = try StreamSocket.listen(at: path)
            Thread.detachNewThread { [self] in
                while case let number = accept(listener.number, nil, nil), number >= 0 {
                    let connection = try? BusConnection(
                        adopting: OwnedDescriptor(adopting: number), side: .server, name: "fake"
                    ) { [weak self] call in
                        if let self { answer(call, self) }
                    } onDisconnect: { _ in
                    }
                    if let connection { connections.withLock { $0.append(connection) } }
                }
            }
        }

        func hangUp() {
            for connection in connections.withLock({ $0 }) { connection.close() }
        }

        func close() {
            shutdown(listener.number, Int32(SHUT_RDWR))
            unlink(path)
            hangUp()
        }

        static let welcome = Welcome(serviceVersion: "9", bundle: nil, processIdentifier: 1).arguments
    }

    private func command() async throws -> Command {
        let command = Command(harness: try Harness())
        let donated = try await command.inProcess.outcome(
            ["donate", "--bundle", "b", "-"], input: #"{"uniqueIdentifier": "one", "attributes": {"title": "One"}}"#)
        try #require(donated.status == 0, "\(donated)")
        return command
    }

    @Test("A silent service is reported after five seconds; --in-process works without it")
    func stuck() async throws {
        let command = try await command()
        let socket = try StreamSocket.listen(at: command.harness.store + "/socket")
        let stuck = try await command.outcome(["search", "one"])
        #expect(stuck.status == 6)
        #expect(stuck.errors.contains("did not answer within 5 s"), "\(stuck)")
        let alone = try await command.outcome(["search", "one", "--in-process"])
        #expect(alone.status == 0 && alone.output.contains("One"))
        withExtendedLifetime(socket) {}
    }

    @Test("A socket without a listener is not a service")
    func staleSocket() async throws {
        let command = try await command()
        _ = try StreamSocket.listen(at: command.harness.store + "/socket")
        let outcome = try await command.outcome(["search", "one"])
        #expect(outcome.status == 0 && outcome.output.contains("One"), "\(outcome)")
    }

    @Test("A service of a different version is reported")
    func otherVersion() async throws {
        let command = try await command()
        let fake = try Fake(command.harness) { call, _ in
            call.refuse(name: ServiceErrorName.unsupportedVersion, message: "It speaks version 9. Restart it.")
        }
        let outcome = try await command.outcome(["search", "one"])
        #expect(outcome.status == 1)
        #expect(outcome.errors == "searchlight: It speaks version 9. Restart it.\n")
        fake.close()
    }

    @Test("A service that ends during a request is reported, and the request may be done")
    func ends() async throws {
        let command = try await command()
        let fake = try Fake(command.harness) { call, fake in
            call.member == Hello.member ? call.reply(Fake.welcome) : fake.hangUp()
        }
        let outcome = try await command.outcome(["search", "one"])
        #expect(outcome.status == 8)
        #expect(outcome.errors.contains("The service ended before its answer"), "\(outcome)")
        fake.close()
    }

    @Test("A service that ends before its first message is not a service")
    func endsAtOnce() async throws {
        let command = try await command()
        let fake = try Fake(command.harness) { _, fake in fake.hangUp() }
        let outcome = try await command.outcome(["search", "one"])
        #expect(outcome.status == 0 && outcome.output.contains("One"), "\(outcome)")
        fake.close()
    }

    @Test(
        "Any invalid answer is reported",
        arguments: [
            "", "{}", "[[[[", "{\"answer\":{\"_0\":{\"searchPath\":5}}}", "\u{0}",
            "{\"failure\":{\"_0\":{\"unheard\":{}}}}",
        ])
    func malformed(_ json: String) async throws {
        let command = try await command()
        let fake = try Fake(command.harness) { call, _ in
            call.reply(call.member == Hello.member ? Fake.welcome : [.bytes(Array(json.utf8))])
        }
        let outcome = try await command.outcome(["search", "one"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("invalid answer"), "\(outcome)")
        fake.close()
    }

    @Test(
        "verify says why a service does not check its store, such as one of an older release", arguments: [true, false])
    func refusedCheck(isOlder: Bool) async throws {
        let command = try await command()
        let fake = try Fake(command.harness) { call, _ in
            call.member == Hello.member
                ? call.reply(Fake.welcome)
                : call.refuse(
                    name: isOlder ? BusErrorName.unknownMethod : BusErrorName.failed, message: "It is in use.")
        }
        let outcome = try await command.outcome(["verify"])
        #expect(outcome.status == 4)
        #expect(outcome.errors.contains("Refused to check its store: It is in use."), "\(outcome)")
        fake.close()
    }

    @Test("A store whose service does not answer at its socket is in use")
    func locked() async throws {
        let command = try await command()
        try await command.harness.withEngine { _ in
            let outcome = try await command.outcome(["donate", "--bundle", "b", "--wait", "0", "-"])
            #expect(outcome.status == 9)
            #expect(outcome.errors.contains("is in use by another searchlight"), "\(outcome)")
        }
    }
}
