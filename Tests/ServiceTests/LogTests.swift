// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ServiceMessages
import Synchronization
import Testing

@testable import SearchlightService

@Suite("The log of the service")
struct LogTests {
    @Test("A source of many lines is limited, and the left-out lines are counted")
    func rate() {
        let lines = TestService.Lines()
        let now = Mutex(Duration.zero)
        let log = ServiceLog(now: { now.withLock { $0 } }) { _, line in lines.add(line) }
        let peer = log.allowance()
        for number in 0..<1000 { log.write(.warning, peer, "line \(number)") }
        #expect(lines.all.count == 20)
        now.withLock { $0 = .seconds(3) }
        log.write(.warning, peer, "later")
        #expect(lines.all.last == "later (980 lines were omitted before)")
        let other = log.allowance()
        log.write(.warning, other, "other")
        #expect(lines.all.last == "other")
    }

    @Test("Output of an extension takes no lines from its errors")
    func leftOut() {
        let lines = TestService.Lines()
        let log = EventLog(ServiceLog(now: { .zero }) { _, line in lines.add(line) })
        for number in 0..<1000 {
            log.write(.leftOut(bundle: "a", LeftOut(name: "/home/me/\(number)", reason: "locked")))
        }
        log.write(.quarantined(bundle: "a", reason: "crashed"))
        #expect(lines.all == ["a: is in quarantine: it crashed"])
    }

    @Test("Many peers together cannot fill the log")
    func sharedRate() {
        let lines = TestService.Lines()
        let log = ServiceLog(now: { .zero }) { _, line in lines.add(line) }
        for _ in 0..<1000 {
            let peer = log.allowance()
            for _ in 0..<20 { log.write(.warning, peer, "x") }
        }
        #expect(lines.all.count == 400)
    }

    @Test("A line is one line, of bounded length, without codes for terminals")
    func oneLine() {
        let lines = TestService.Lines()
        let log = ServiceLog(now: { .zero }) { _, line in lines.add(line) }
        log.write(.info, "a\nb\u{1B}[31m\u{202E}c" + String(repeating: "x", count: 5000))
        #expect(lines.all.first?.hasPrefix("a b [31m c") == true)
        #expect((lines.all.first?.unicodeScalars.count ?? 0) <= 1001)
    }
}
