// SPDX-License-Identifier: Apache-2.0

/// How a worker ended.
public enum WorkerExit: Hashable, Sendable, Codable, CustomStringConvertible {
    /// By `exit`, with a status.
    case exited(Int32)
    /// By a signal.
    case signalled(Int32)
    /// By the host, because it had closed its connection and went on.
    case endedByHost
    /// By the host, because it went beyond this limit.
    case exceeded(limit: String)

    /// The status with which the worker program ends where it cannot start (EX_OSERR); it says why.
    static let cannotStart: Int32 = 71

    /// What the worker did, as the rest of a sentence.
    public var description: String {
        switch self {
        case .exited(let status): "ended its worker with exit status \(status)"
        case .endedByHost: "broke or closed its connection and had to be ended"
        case .exceeded(let limit): "went beyond a limit (\(limit)) and was ended"
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
