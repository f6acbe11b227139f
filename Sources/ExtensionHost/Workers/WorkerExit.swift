// SPDX-License-Identifier: Apache-2.0

/// The way in which a worker exited.
public enum WorkerExit: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The worker exited with a status.
    case exited(Int32)
    /// A signal terminated the worker.
    case signalled(Int32)
    /// The host terminated the worker, because the worker closed its connection without exiting.
    case endedByHost
    /// The host terminated the worker, because it exceeded this limit.
    case exceeded(limit: String)
    /// The host terminated the worker after another request had failed, or had been stopped. That
    /// request is described as the end of a sentence.
    case endedAfter(request: String)

    /// The exit status of a worker program that cannot start (EX_OSERR). The program prints the
    /// reason.
    static let cannotStart: Int32 = 71

    /// A description of the exit, to complete a sentence.
    public var description: String {
        switch self {
        case .exited(let status): "ended its worker with exit status \(status)"
        case .endedByHost: "broke or closed its connection and was ended"
        case .exceeded(let limit): "exceeded a limit (\(limit)) and was ended"
        case .endedAfter(let request): "was ended after another request (to \(request)) had failed or was stopped,"
        case .signalled(let number): "crashed (signal \(number), \(Self.name(of: number)))"
        }
    }

    private static func name(of signal: Int32) -> String {
        let names: [Int32: String] = [
            4: "illegal instruction", 5: "trap", 6: "abort", 7: "bus error", 8: "arithmetic error", 9: "killed",
            11: "segmentation fault", 15: "terminated", 24: "CPU time exceeded", 25: "file size exceeded",
            31: "forbidden system call",
        ]
        return names[signal] ?? "unnamed"
    }
}
