// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Glibc
import ServiceMessages
import SystemSupport

/// Connects to a service and identifies itself, for tests that need another process: in a sandbox,
/// or as another user. Prints the bundle that the service reports, or the name of the error.
@main
struct ServiceClient {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let role = Hello.Role(rawValue: arguments[2]) else {
            print("Arguments: store, role, bundle.")
            exit(64)
        }
        // The owner of the service's socket. The service must reject a client that runs as another
        // user.
        var status = stat()
        guard stat(arguments[1], &status) == 0 else {
            print("There is no store at \(arguments[1]).")
            exit(1)
        }
        do {
            let connection = try BusConnection(
                adopting: try ServiceSocket.connect(inFolder: arguments[1], servedBy: status.st_uid), side: .client,
                name: "client",
                onCall: { $0.refuse(name: BusErrorName.unknownMethod, message: "") }, onDisconnect: { _ in })
            let hello = Hello(
                role: role, bundle: arguments[3].isEmpty ? nil : arguments[3], program: "ServiceClient")
            var answer = BusArguments(
                try await connection.call(Hello.member, hello.arguments), of: Hello.member.member)
            print(try Welcome(&answer).bundle ?? "none")
        } catch BusError.remote(let name, let message) {
            print("\(name): \(message)")
            exit(1)
        } catch {
            print("\(error)")
            exit(1)
        }
    }
}
