// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The duration and the settings of a torture test. Scripts/torture sets more rounds.
enum TortureSettings {
    private static let environment = ProcessInfo.processInfo.environment

    static let rounds = environment["SEARCHLIGHT_TORTURE_ROUNDS"].flatMap { Int($0) }
    static let seed = environment["SEARCHLIGHT_TORTURE_SEED"].flatMap { UInt64($0) } ?? .random(in: .min ... .max)
    /// The program that is killed from outside, if it was not built together with the tests.
    static let program = environment["SEARCHLIGHT_TORTURE_PROGRAM"]

    /// The command line that repeats a run.
    static let repetition = "SEED=\(seed) \(rounds.map { "ROUNDS=\($0) " } ?? "")make torture"
}
