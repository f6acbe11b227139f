// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import SearchlightExtension
import Synchronization
import Testing

@testable import ExtensionRuntime

@Suite("The table of requests")
struct RequestTableTests {
    @Test("lets each request be answered once")
    func answeredOnce() {
        let table = RequestTable()
        let request = table.open { _ in }
        #expect(table.isPending(request))
        #expect(table.finish(request, .acknowledged))
        #expect(!table.finish(request, .acknowledged))
        #expect(!table.isPending(request))
    }

    // MARK: Cancelling

    @Test("calls the handler of a cancelled request once")
    func cancelled() throws {
        let fake = FakeHost()
        let cancel: searchlight_host_cancel = try fake.interface(SEARCHLIGHT_HOST_CANCEL)
        let count = Count()
        let (request, answers) = fake.open(call: 5)
        let (other, _) = fake.open(call: 6)
        cancel.set_handler(fake.host, request, { context, _ in Count.of(context)?.up() }, count.context)
        #expect(cancel.is_cancelled(fake.host, request) == 0)
        #expect(fake.session.requests.cancel(call: 7) == nil)
        #expect(fake.session.requests.cancel(call: 5) == request)
        #expect(fake.session.requests.cancel(call: 5) == nil, "cancelled before")
        #expect(cancel.is_cancelled(fake.host, request) == 1 && cancel.is_cancelled(fake.host, other) == 0)
        fake.session.requests.runCancelHandler(request)
        fake.session.requests.runCancelHandler(request)
        #expect(count.number == 1)
        fake.session.finish(request, .failed(.cancelled, ""))
        #expect(answers.failure?.status == .cancelled)
        #expect(cancel.is_cancelled(fake.host, 4711) == 1, "an unknown request counts as cancelled")
    }

    @Test("calls a handler that is set too late at once, and none after the answer")
    func lateHandlers() throws {
        let fake = FakeHost()
        let cancel: searchlight_host_cancel = try fake.interface(SEARCHLIGHT_HOST_CANCEL)
        let (early, late, replaced) = (Count(), Count(), Count())
        let (request, _) = fake.open(call: 5)
        cancel.set_handler(fake.host, request, { context, _ in Count.of(context)?.up() }, replaced.context)
        cancel.set_handler(fake.host, request, { context, _ in Count.of(context)?.up() }, early.context)
        _ = fake.session.requests.cancel(call: 5)
        cancel.set_handler(fake.host, request, { context, _ in Count.of(context)?.up() }, late.context)
        #expect(late.number == 1)
        fake.session.requests.runCancelHandler(request)
        #expect(early.number == 0 && replaced.number == 0, "a replaced handler is not called")

        let (answered, _) = fake.open(call: 8)
        cancel.set_handler(fake.host, answered, { context, _ in Count.of(context)?.up() }, early.context)
        _ = fake.session.requests.cancel(call: 8)
        fake.session.finish(answered, .acknowledged)
        fake.session.requests.runCancelHandler(answered)
        cancel.set_handler(fake.host, answered, { context, _ in Count.of(context)?.up() }, late.context)
        #expect(early.number == 0 && late.number == 1)
        #expect(fake.session.requests.cancel(call: 8) == nil)
    }

    @Test("waits with an answer for a running handler, unless the handler itself answers")
    func handlerDuringAnswer() async throws {
        var time = SessionTime.system
        // A busy machine does not count as a fault.
        time.handlerPatience = .seconds(600)
        let fake = FakeHost(time: time)
        let (request, answers) = fake.open(call: 5)
        let order = Order()
        let (isIn, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        fake.session.requests.setCancelHandler(request) {
            isIn.signal()
            mayLeave.wait()
            order.add("handler")
        }
        _ = fake.session.requests.cancel(call: 5)
        DispatchQueue.global().async { fake.session.requests.runCancelHandler(request) }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                isIn.wait()
                Thread.detachNewThread { mayLeave.signal() }
                fake.session.finish(request, .acknowledged)
                order.add("answer")
                continuation.resume()
            }
        }
        #expect(order.all == ["handler", "answer"])
        #expect(answers.count == 1)

        let (own, ownAnswers) = fake.open(call: 9)
        fake.session.requests.setCancelHandler(own) { fake.session.finish(own, .failed(.cancelled, "stopped")) }
        _ = fake.session.requests.cancel(call: 9)
        fake.session.requests.runCancelHandler(own)
        #expect(ownAnswers.failure?.message == "stopped")
    }

    @Test("does not wait long for a handler that waits for the answer")
    func handlerThatWaits() {
        var time = SessionTime.system
        time.handlerPatience = .milliseconds(1)
        let fake = FakeHost(time: time)
        let (request, answers) = fake.open(call: 5)
        let (isIn, isAnswered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        fake.session.requests.setCancelHandler(request) {
            isIn.signal()
            isAnswered.wait()
        }
        _ = fake.session.requests.cancel(call: 5)
        Thread.detachNewThread { fake.session.requests.runCancelHandler(request) }
        isIn.wait()
        fake.session.finish(request, .acknowledged)
        isAnswered.signal()
        #expect(answers.count == 1)
    }

    // MARK: Progress

    @Test("reports progress a few times a second, and always the last report")
    func progress() throws {
        let time = FakeTime()
        let fake = FakeHost(time: time.time)
        let progress: searchlight_host_progress = try fake.interface(SEARCHLIGHT_HOST_PROGRESS)
        let (request, _) = fake.open(call: 5)
        for step in 1...1000 { progress.report(fake.host, request, UInt64(step), 4000) }
        #expect(fake.link.posts == [.progress(call: 5, completed: 1, total: 4000)])
        time.advance(by: .milliseconds(250))
        #expect(fake.link.posts.dropFirst() == [.progress(call: 5, completed: 1000, total: 4000)])
        progress.report(fake.host, request, 1001, 4000)
        #expect(fake.link.posts.count == 2, "too early")
        fake.session.finish(request, .acknowledged)
        #expect(fake.link.posts.last == .progress(call: 5, completed: 1001, total: 4000))
        time.advance(by: .seconds(1))
        progress.report(fake.host, request, 1002, 4000)
        progress.report(fake.host, 4711, 1, 1)
        #expect(fake.link.posts.count == 3, "of an answered request nothing is said")
    }
}

/// Records events in order.
final class Order: Sendable {
    private let events = Mutex<[String]>([])
    func add(_ event: String) { events.withLock { $0.append(event) } }
    var all: [String] { events.withLock { $0 } }
}
