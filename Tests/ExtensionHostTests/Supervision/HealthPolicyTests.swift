// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import ExtensionHost

/// The effect of an extension's behaviour on its health, decided without a clock, a file or a
/// worker.
@Suite("The health of an extension")
struct HealthPolicyTests {
    static func fingerprint(_ number: UInt64) -> BundleFingerprint {
        var stamp = BundleFingerprint.Stamp(path: "/")
        stamp?.inode = number
        return BundleFingerprint(manifest: stamp, library: nil, worker: nil)
    }

    static func failure(_ kind: ExtensionHealth.FailureKind, at moment: Double) -> ExtensionHealth.Failure {
        .init(moment: moment, kind: kind, during: "reindex everything", exit: .signalled(11), lastOutput: ["the end"])
    }

    private let files = fingerprint(1)

    @Test("Three lost workers in five minutes cause a quarantine with its evidence; fewer do not")
    func threeCrashes() throws {
        var health = ExtensionHealth()
        #expect(health.note(Self.failure(.crashed, at: 0), files) == nil)
        #expect(health.note(Self.failure(.memoryExceeded, at: 100), files) == nil)
        for moment in 101..<130 {
            #expect(health.note(Self.failure([.late, .notLoaded][moment % 2], at: Double(moment)), files) == nil)
        }
        let begun = health.note(Self.failure(.hung, at: 300), files)
        let quarantine = try #require(begun)
        #expect(quarantine == health.quarantine)
        #expect(quarantine.since == 300 && quarantine.fingerprint == files)
        #expect(quarantine.evidence == Self.failure(.hung, at: 300))
        #expect(quarantine.reason.contains("3 workers within 5 minutes"))
        // The quarantine starts only once.
        #expect(health.note(Self.failure(.crashed, at: 301), files) == nil)
        #expect(health.quarantine == quarantine)
    }

    @Test("Any order and distance of failures: quarantined exactly if the last five minutes had three crashes")
    func anyFailures() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var health = ExtensionHealth()
            var crashes: [Double] = []
            var isQuarantined = false
            var now = 0.0
            for _ in 0..<30 {
                now += Double(random.below(200))
                let kind = random.pick(ExtensionHealth.FailureKind.allCases)
                if kind.isCrash { crashes.append(now) }
                let mustBegin = kind.isCrash && !isQuarantined && crashes.count { now - $0 <= 300 } >= 3
                let begun = health.note(Self.failure(kind, at: now), files)
                #expect((begun != nil) == mustBegin, "seed \(seed)")
                isQuarantined = isQuarantined || mustBegin
                #expect(health.failures.count <= HealthLimits.failures)
                if random.below(4) == 0 { health.noteSuccess() }
                if random.below(10) == 0 {
                    health.release()
                    (isQuarantined, crashes) = (false, [])
                }
            }
        }
    }

    @Test("A quarantine applies to every caller, a back-off not to the user")
    func refusals() throws {
        var health = ExtensionHealth()
        #expect(health.refusal(.background, now: 0) == nil)
        health.note(Self.failure(.crashed, at: 0), files)
        let backOff = try #require(health.backOff)
        #expect(health.refusal(.background, now: 29) == .backingOff(backOff))
        #expect(health.refusal(.person, now: 29) == nil)
        #expect(health.refusal(.background, now: 30) == nil)
        health.note(Self.failure(.crashed, at: 1), files)
        health.note(Self.failure(.crashed, at: 2), files)
        for origin in [RequestOrigin.person, .background] {
            guard case .quarantined? = health.refusal(origin, now: 1e6) else {
                Issue.record("\(origin) may ask")
                continue
            }
        }
        health.isDisabled = true
        #expect(health.refusal(.person, now: 3) == .disabled)
    }

    @Test("The wait doubles from 30 seconds to 5 hours with each failure in a row, and ends with a success")
    func backOff() {
        var health = ExtensionHealth()
        var waits: [Double] = []
        for number in 0..<40 {
            // Far apart, so that no quarantine starts.
            let now = Double(number) * 100_000
            health.note(Self.failure(.crashed, at: now), files)
            waits.append((health.backOff?.until ?? now) - now)
        }
        #expect(waits.prefix(4) == [30, 60, 120, 240])
        #expect(waits.last == 5 * 3600 && zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
        let wasBackingOff = health.noteSuccess()
        #expect(wasBackingOff && health.backOff == nil)
        health.note(Self.failure(.late, at: 1e9), files)
        #expect(health.backOff?.until == 1e9 + 30)
    }

    @Test("A clock that was set back makes no wait longer than the maximum")
    func clockSetBack() {
        var health = ExtensionHealth()
        health.note(Self.failure(.crashed, at: 1e9), files)
        #expect(health.refusal(.background, now: 0) == nil)
        #expect(health.refusal(.background, now: -.infinity) == nil)
    }

    @Test("Other files or another host end everything except the user's settings")
    func otherFiles() {
        var health = ExtensionHealth()
        health.isDisabled = true
        for moment in 0..<3 { health.note(Self.failure(.crashed, at: Double(moment)), files) }
        health.setAside([.init(identifier: "one", reason: "crashed", since: 3)], files)
        let before = health
        let isHeldOn = health.meet(files)
        #expect(!isHeldOn && health == before)
        let isReleased = health.meet(Self.fingerprint(2))
        #expect(isReleased && health.quarantine == nil && health.backOff == nil)
        #expect(health.failures.isEmpty && health.itemsSetAside.isEmpty && health.isDisabled)
        // Failures of the old version do not count against the new one.
        let begun = health.note(Self.failure(.crashed, at: 4), Self.fingerprint(2))
        #expect(begun == nil)
    }

    @Test("A release clears everything except the user's settings")
    func release() {
        var health = ExtensionHealth()
        let isNothing = health.release()
        #expect(!isNothing)
        for moment in 0..<3 { health.note(Self.failure(.crashed, at: Double(moment)), files) }
        let isSomething = health.release()
        #expect(isSomething && health.isBlank)
        #expect(health.refusal(.background, now: 3) == nil)
    }

    @Test("Stored data is bounded, with any output of an extension and any identifiers")
    func bounds() {
        let flood = String(repeating: "é", count: 1 << 20)
        let failure = ExtensionHealth.Failure(
            moment: 0, kind: .crashed, during: flood, lastOutput: Array(repeating: flood, count: 1000))
        #expect(failure.during.utf8.count <= HealthLimits.textBytes + 4)
        #expect(failure.lastOutput.count == HealthLimits.lines)
        var health = ExtensionHealth()
        for part in 0..<30 {
            let items = (0..<100).map {
                ExtensionHealth.ItemSetAside(
                    identifier: "\(part) \($0)" + String(repeating: "x", count: part * 40), reason: "", since: 0)
            }
            health.setAside(items, files)
            // The newest entries are kept.
            #expect(health.itemsSetAside.last == items.last)
        }
        #expect(health.itemsSetAside.count <= HealthLimits.items)
        #expect(health.itemsSetAside.reduce(0) { $0 + $1.identifier.utf8.count } <= HealthLimits.itemBytes)
        // An item that is skip-listed again is listed only once.
        let count = health.itemsSetAside.count
        if let first = health.itemsSetAside.first { health.setAside([first], files) }
        #expect(health.itemsSetAside.count == count)
    }

    @Test("Health is unchanged after writing and reading")
    func coding() throws {
        for seed in 0..<50 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var health = ExtensionHealth()
            health.isDisabled = random.below(2) == 0
            for _ in 0..<random.below(6) {
                health.note(
                    .init(
                        moment: Double(random.below(1000)) / 7, kind: random.pick(ExtensionHealth.FailureKind.allCases),
                        during: random.text(length: 8), exit: [nil, .endedByHost, .signalled(4)][random.below(3)],
                        lastOutput: [random.text(length: 9)]), files)
            }
            health.setAside([.init(identifier: random.text(length: 5), reason: "crashed", since: 0.1)], files)
            let data = try JSONEncoder().encode(health)
            #expect(try JSONDecoder().decode(ExtensionHealth.self, from: data) == health)
        }
    }
}
