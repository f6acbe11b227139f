// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import WriteAheadLog

/// After any crash, the acknowledged entries are found complete, once, and in order.
@Suite struct LogCrashTests {
    static let cases = (1...12).flatMap { seed in LogTestDisk.Loss.allCases.map { (UInt64(seed), $0) } }

    @Test("A crash in any file operation loses no acknowledged entry", arguments: cases)
    func crashEverywhere(seed: UInt64, loss: LogTestDisk.Loss) async throws {
        var rehearsal = LogCrashModel(seed: seed)
        try await rehearsal.run(steps: 14)
        let calls = rehearsal.disk.calls
        try #require(calls > 30)
        for moment in 0..<calls {
            var model = LogCrashModel(seed: seed)
            model.disk.plan { call, _ in call == moment ? .stop : nil }
            try await model.run(steps: 14)
            try #require(model.disk.isStopped, "seed \(seed), moment \(moment)")
            await model.crash(losing: loss)
            try model.open()
            try #require(model.log != nil)
            // The log continues normally.
            try await model.appendGroup()
            try model.checkWhileOpen()
        }
    }

    @Test("Repeated crashes, even during recovery", arguments: (1...150).map { UInt64($0) })
    func crashAfterCrash(seed: UInt64) async throws {
        var model = LogCrashModel(seed: seed)
        for _ in 0..<8 {
            let moment = model.disk.calls + model.generator.below(60)
            model.disk.plan { call, _ in call == moment ? .stop : nil }
            try await model.run(steps: 12)
            await model.crash(losing: model.generator.pick(LogTestDisk.Loss.allCases))
        }
        try model.open()
        try await model.appendGroup()
        try model.checkWhileOpen()
        #expect(model.last > 0, "seed \(seed)")
    }

    @Test("Failing operations fail their entries, and the log continues", arguments: (1...150).map { UInt64($0) })
    func failingOperations(seed: UInt64) async throws {
        var model = LogCrashModel(seed: seed)
        try await model.run(steps: 2)
        for _ in 0..<4 {
            let salt = model.generator.next()
            model.disk.plan { call, _ in
                var generator = SplitMix64(seed: salt &+ UInt64(call))
                switch generator.below(12) {
                case 0: return .fail(ENOSPC)
                case 1: return .fail(EIO)
                case 2, 3: return .short
                default: return nil
                }
            }
            for _ in 0..<10 {
                if model.log != nil { try await model.appendGroup() }
            }
            if let log = model.log {
                model.disk.plan(nil)
                try model.checkWhileOpen()
                let before = model.acknowledged.count
                try await model.appendGroup()
                #expect(model.acknowledged.count > before, "usable once the cause is gone")
                #expect(try await log.verify().allSatisfy { !$0.isDamage })
            }
            await model.crash(losing: model.generator.pick(LogTestDisk.Loss.allCases))
            try model.open()
        }
    }
}
