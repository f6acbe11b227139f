// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ExtensionHost

/// The user data in a worker's environment.
@Suite("The environment of a worker")
struct WorkerEnvironmentTests {
    private func variables(_ environment: [String: String]) -> [String] {
        WorkerConfiguration(workerPath: "/worker", frameworkFolder: nil, environment: environment)
            .workerEnvironment("/tmp/own")
    }

    @Test("has the manifest's home folder for Foundation too, which would otherwise read the list of users")
    func home() {
        let passed = variables(["HOME": "/home/ann", "CFFIXED_USER_HOME": "/elsewhere", "SECRET": "x"])
        #expect(passed.contains("HOME=/home/ann") && passed.contains("CFFIXED_USER_HOME=/home/ann"))
        #expect(passed.contains("TMPDIR=/tmp/own") && !passed.contains { $0.hasPrefix("SECRET") })
        for environment in [["HOME": "relative"], [:]] {
            #expect(!variables(environment).contains { $0.hasPrefix("CFFIXED_USER_HOME") })
        }
    }

    @Test("is limited: a refusal names the key of the manifest that would grant the access, if there is one")
    func keys() {
        #expect(SandboxRefusal(.read, "/home/ann/Recipes").whatToDo == .readablePaths)
        #expect(SandboxRefusal(.network, "a socket of family inet6").whatToDo == .allowsNetwork)
        #expect(SandboxRefusal(.network, "a socket of family unix").whatToDo == .none)
        #expect(SandboxRefusal(.process, "fork").whatToDo == .none)
    }
}
