// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ExtensionRuntime
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExtensionValidation

/// The extension in Tests/Fixtures/Validation with one fault, and its validator.
enum ValidatorSubject: Int, CaseIterable, Sendable {
    case good, eager, silent, twice, counting, volatile, forgetful, generous, liar, breaking, anyType, badPreview
    case badReference, shared, leaking, descriptors, fragile, talkative, deadlock, crashing, slowNotice, endless
    case paged, circling, absent, prying, undead, slowToLoad, planting, scripted
    case hoarding, lockedOut, lingering, vast, huge, crowded, warming, misspelt, unwilling
    case named, copying, dying

    var identifier: String { "com.example.subject\(rawValue)" }

    private static let built = Mutex<[Int: String]>([:])
    private static let folder: String = {
        let path = FileManager.default.temporaryDirectory.path + "/searchlight-subjects-\(getpid())"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: ValidatorSubject.folder) }
        return path
    }()

    /// Returns the extension's library.
    func library() throws -> String {
        try Self.built.withLock { built in
            if let path = built[rawValue] { return path }
            let source = BuiltProducts.repository + "/Tests/Fixtures/Validation/subject.c"
            let output = Self.folder + "/subject\(rawValue).so"
            let (status, text) = try CFixture.run(
                CFixture.compiler,
                [
                    "-std=c11", "-D_GNU_SOURCE", "-DBREAK=\(rawValue)", "-Wall", "-Wextra", "-pedantic", "-Werror",
                    "-shared", "-fPIC", "-I\(CFixture.includeFolder)", source, "-o", output, "-lm",
                ])
            try #require(status == 0, "compiling \(source): \(text)")
            built[rawValue] = output
            return output
        }
    }

    /// Installs the extension in the extensions folder of a harness.
    @discardableResult
    func install(_ harness: Harness, manifest: [String: Any?] = ["CFBundleDisplayName": "Sheets"]) throws -> String {
        try harness.install(identifier, library: try library(), manifest: manifest)
    }
}

extension Harness {
    /// Returns the configuration with which the validator starts its processes in this harness.
    func validatorConfiguration(
        _ limits: WorkerConfiguration.Limits = .patient, inProcess: Bool = false,
        clock: any Clock<Duration> = SteadyClock.shared
    ) throws -> WorkerConfiguration {
        var environment = ["XDG_CONFIG_HOME": folder + "/config", "HOME": folder]
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        var configuration = WorkerConfiguration(
            workerPath: try BuiltProducts.program("searchlight-worker"), frameworkFolder: BuiltProducts.folder,
            environment: environment, limits: limits, clock: clock)
        if inProcess {
            configuration.startInProcess = { (connection) throws(BusError) in
                try startWorkerInThisProcess(connection: connection)
            }
        }
        return configuration
    }

    /// Validates a bundle.
    func validate(
        _ bundle: String, _ checks: Set<ValidationCheck>, seed: UInt64 = 7,
        limits: WorkerConfiguration.Limits = .patient,
        inProcess: Bool = false, clock: any Clock<Duration> = SteadyClock.shared,
        changing change: (inout ValidationSettings) -> Void = { _ in }
    ) async throws -> ValidationReport {
        var settings = ValidationSettings(seed: seed)
        change(&settings)
        settings.isInProcess = inProcess
        let validator = ExtensionValidator(
            ExtensionValidator.Subject(path: bundle),
            configuration: try validatorConfiguration(limits, inProcess: inProcess, clock: clock),
            settings: settings)
        return await validator.run(checks)
    }
}

extension ValidationReport {
    /// Returns the result of a check.
    func result(_ check: ValidationCheck) throws -> CheckResult {
        try #require(checks.first { $0.check == check }?.result)
    }

    /// The problems, for the message of a failed expectation.
    var problems: [String] {
        checks.filter { $0.result.isFailure }.map { "\($0.check.rawValue): \($0.result.reason ?? "")" }
    }
}
