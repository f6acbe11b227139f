// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Starts, kills and restarts the client processes.
final class ClientPool {
    private struct Member {
        var kind: ClientKind
        var number: Int
        var process: ChildProcess
        var isKilled = false
    }
    private let place: TorturePlace
    private let report: TortureReport
    private var members: [Member] = []

    init(_ place: TorturePlace, _ report: TortureReport) { (self.place, self.report) = (place, report) }

    func start(epoch: Int, _ random: inout SplitMix64) throws {
        for kind in ClientKind.allCases {
            for number in 0..<kind.count {
                members.append(Member(kind: kind, number: number, process: try spawn(kind, number, epoch, &random)))
            }
        }
    }

    private func spawn(_ kind: ClientKind, _ number: Int, _ epoch: Int, _ random: inout SplitMix64) throws
        -> ChildProcess
    {
        report.count("starts of clients")
        let file = open(place.logs + "/output-\(kind)-\(number)", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        return try ChildProcess(
            place.products + "/ServiceTorture",
            ["client", place.folder, kind.rawValue, "\(number)", "\(epoch)", "\(random.next())"],
            environment: place.environment, output: .file(FileHandle(fileDescriptor: file, closeOnDealloc: true)))
    }

    /// Kills a client and starts it again.
    func killOne(epoch: Int, _ random: inout SplitMix64) throws {
        let index = random.below(members.count)
        members[index].process.send(SIGKILL)
        members[index].isKilled = true
        report.count("kills of clients")
        try look(epoch: epoch, &random)
    }

    /// Restarts clients that have exited, and reports clients that exited without being killed.
    func look(epoch: Int, _ random: inout SplitMix64) throws {
        for index in members.indices {
            let member = members[index]
            guard member.isKilled || !member.process.isRunning else { continue }
            note(member)
            members[index] = Member(
                kind: member.kind, number: member.number,
                process: try spawn(member.kind, member.number, epoch, &random))
        }
    }

    func endAll() {
        for index in members.indices {
            members[index].isKilled = members[index].process.isRunning
            members[index].process.send(SIGKILL)
        }
        for member in members { note(member) }
        members = []
    }

    private func note(_ member: Member) {
        let ending = member.process.wait()
        guard !member.isKilled else { return }
        let path = place.logs + "/output-\(member.kind)-\(member.number)"
        let output = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        report.complain("a \(member.kind) ended by itself (\(ending)): \(output.suffix(1000))")
    }
}
