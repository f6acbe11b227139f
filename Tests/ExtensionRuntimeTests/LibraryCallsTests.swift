// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import Dispatch
import ServiceMessages
import Testing

@testable import ExtensionRuntime

@Suite("Calls into a library of several objects in one process", .timeLimit(.minutes(10)))
struct LibraryCallsTests {
    @Test("A call that never returns is waited for once")
    func hung() {
        let library = "/hung.so"
        let first = LibraryCalls.settled(library)
        first.enter()
        defer { first.leave() }
        let second = LibraryCalls.settled(library, patience: .milliseconds(1))
        #expect(second !== first)
        second.enter()
        second.leave()
        #expect(LibraryCalls.settled(library, patience: .never) === second)
    }

    @Test("Calls into one library do not delay another")
    func others() {
        let calls = LibraryCalls.settled("/one.so")
        calls.enter()
        defer { calls.leave() }
        #expect(LibraryCalls.settled("/other.so", patience: .never) !== calls)
    }

    @Test("A completion of a donation counts until it has returned")
    func completions() {
        let fake = FakeHost()
        let calls = DispatchGroup()
        fake.session.count(in: calls)
        let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        fake.session.send(IndexRequest(.deleteAll, index: nil)) { _ in
            begun.signal()
            goOn.wait()
        }
        begun.wait()
        #expect(calls.wait(timeout: .now()) == .timedOut)
        goOn.signal()
        calls.wait()
    }
}
