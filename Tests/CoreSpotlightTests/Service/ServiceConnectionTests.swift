// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import ServiceMessages
import Testing

@testable import CoreSpotlight

@Suite("Connection to the service")
struct ServiceConnectionTests {
    private let delete = IndexRequest(.deleteItems(["x"]), index: nil)
    private let question = BusMember("com.searchlight.Query1", "Query")

    @Test func nothingIsConnectedBeforeTheFirstRequestAndNoTimerRunsInPeace() {
        let harness = ConnectionHarness()
        harness.run()
        #expect(harness.service.state.withLock { $0.openings } == 0)
        harness.ask(0, delete)
        harness.run()
        #expect(harness.counts == [0: 1] && harness.failure(0) == nil)
        #expect(harness.clock.timerCount == 0)
        harness.service.cut()
        harness.run()
        // No request is pending, so the connection does not search for the service.
        #expect(harness.clock.timerCount == 0 && harness.service.state.withLock { $0.openings } == 1)
        harness.ask(1, delete)
        harness.run()
        #expect(harness.failure(1) == nil && harness.service.state.withLock { $0.openings } == 2)
    }

    @Test func requestsFailWhenNothingIsThereThatWouldStartAService() {
        let harness = ConnectionHarness()
        let absent = BusError.remote(name: ServiceErrorName.absent, message: "Start it.")
        harness.service.state.withLock { $0.refusal = absent }
        harness.ask(0, delete)
        harness.run()
        #expect(harness.failure(0)?.advice == absent.advice && harness.clock.timerCount == 0)
        #expect(CSIndexError(absent).code == .remoteConnectionError)
    }

    @Test func withoutAServiceRequestsWaitThirtySecondsAndNoLonger() {
        let harness = ConnectionHarness()
        harness.service.state.withLock { $0.refusal = BusError.unreachable("Nobody listens.") }
        harness.ask(0, delete)
        harness.settle()
        var earlier = 0
        while harness.clock.now < .seconds(26) {
            harness.clock.runNext()
            harness.settle()
            earlier += 1
            if harness.counts[0] != nil { break }
        }
        #expect(harness.counts.isEmpty && (5...40).contains(earlier), "\(earlier) attempts")
        harness.ask(1, delete)
        while harness.counts[0] == nil {
            harness.clock.runNext()
            harness.settle()
        }
        #expect(harness.clock.now <= .seconds(36))
        #expect(harness.failure(0)?.name == ServiceErrorName.unreachable)
        #expect(harness.failure(0)?.advice.contains("Nobody listens.") == true)
        // The later request is still pending, as it should be.
        #expect(harness.counts[1] == nil)
        harness.service.state.withLock { $0.refusal = nil }
        harness.clock.runNext()
        harness.run()
        #expect(harness.failure(1) == nil && harness.counts[1] == 1)
        #expect(harness.clock.timerCount == 0)
    }

    @Test func aServiceThatWasThereIsWaitedForAlsoWhenItsSocketIsGone() {
        let harness = ConnectionHarness()
        harness.ask(0, delete)
        harness.run()
        harness.service.state.withLock { $0.refusal = BusError.remote(name: ServiceErrorName.absent, message: "gone") }
        harness.ask(1, delete)
        harness.service.cut()
        harness.settle()
        #expect(harness.counts[1] == nil && harness.clock.timerCount == 1)
        harness.service.state.withLock { $0.refusal = nil }
        harness.clock.runNext()
        harness.run()
        #expect(harness.failure(1) == nil && harness.counts[1] == 1)
    }

    @Test func aRefusedGreetingFailsWhatWaitsAndSaysWhatToDo() {
        for (bundle, isExplained) in [(nil, true), ("com.example.test", false)] as [(String?, Bool)] {
            let harness = ConnectionHarness(bundle: bundle)
            harness.service.state.withLock {
                $0.greetingRefusal = .remote(name: ServiceErrorName.accessDenied, message: "Which app are you?")
            }
            harness.ask(0, delete)
            harness.ask(1, question: question)
            harness.run()
            #expect(harness.counts == [0: 1, 1: 1] && harness.clock.timerCount == 0)
            let message = harness.failure(0)?.advice ?? ""
            #expect(message.contains("SEARCHLIGHT_BUNDLE_IDENTIFIER") == isExplained)
            #expect(message.contains("Which app are you?"))
            #expect(harness.failure(0).map { CSIndexError($0).code } == .indexUnavailableError)
        }
    }

    @Test(arguments: [ExtensionStatus.unavailable.errorName, BusErrorName.limitsExceeded])
    func aGreetingThatIsRefusedForNowIsRepeated(name: String) {
        let harness = ConnectionHarness()
        harness.service.state.withLock { $0.greetingRefusal = .remote(name: name, message: "Try again.") }
        harness.ask(0, delete)
        harness.settle()
        while harness.service.carryOut() || harness.service.answer() { harness.settle() }
        #expect(harness.counts.isEmpty && harness.clock.timerCount == 1)
        harness.service.state.withLock { $0.greetingRefusal = nil }
        harness.clock.runNext()
        harness.run()
        #expect(harness.counts[0] == 1 && harness.failure(0) == nil)
    }

    @Test func noMoreQuestionsAreUnderWayThanTheServiceTakes() {
        var waiting = WaitingRequests()
        for _ in 0..<20 {
            _ = waiting.append(
                WaitingRequest(content: .question(question, []), submitted: .zero, reply: { _ in }))
        }
        var sent: [UInt64] = []
        while let (number, _) = waiting.next() { sent.append(number) }
        #expect(sent == Array(1...16))
        _ = waiting.append(WaitingRequest(content: .index(delete), submitted: .zero, reply: { _ in }))
        #expect(waiting.next()?.number == 21)
        _ = waiting.remove(3)
        #expect(waiting.next()?.number == 17 && waiting.next() == nil)
        waiting.connectionWasLost()
        sent = []
        while let (number, _) = waiting.next() { sent.append(number) }
        #expect(sent.count == 17 && sent.contains(21))
    }

    @Test func aServiceThatDoesNotGreetIsLeft() {
        let harness = ConnectionHarness()
        harness.service.state.withLock { $0.answersGreetings = false }
        harness.ask(0, delete)
        harness.run()
        #expect(harness.clock.timerCount == 1)
        harness.clock.runNext()
        harness.settle()
        #expect(harness.clock.now == ServiceTiming.greeting)
        harness.service.state.withLock { $0.answersGreetings = true }
        harness.clock.runNext()
        harness.run()
        #expect(harness.failure(0) == nil && harness.counts == [0: 1])
    }

    @Test func aRequestThatEndsTheServiceAgainAndAgainIsGivenUpAndTheOthersAreNot() {
        let harness = ConnectionHarness()
        for number in 0..<3 { harness.ask(number, IndexRequest(.deleteItems(["\(number)"]), index: nil)) }
        for _ in 0..<ServiceConnection.maximumSends {
            harness.settle()
            _ = harness.service.carryOut()
            _ = harness.service.answer()
            harness.settle()
            // The connection is cut while the service executes the first request.
            harness.service.cut()
            harness.settle()
            harness.clock.runNext()
        }
        #expect(harness.counts == [0: 1] && harness.failure(0)?.name == ServiceErrorName.unreachable)
        harness.run()
        #expect(harness.counts == [0: 1, 1: 1, 2: 1] && harness.failure(1) == nil && harness.failure(2) == nil)
    }

    @Test func onlySoManyChangesAreUnderWayWhileQuestionsPass() {
        let harness = ConnectionHarness()
        for number in 0..<100 { harness.ask(number, delete) }
        harness.ask(100, question: question)
        harness.settle()
        _ = harness.service.carryOut()
        _ = harness.service.answer()
        harness.settle()
        #expect(harness.service.state.withLock { $0.received[0].count } == WaitingRequests.maximumUnderWay)
        #expect(harness.service.state.withLock { $0.otherCalls } == [Hello.member, question])
        let large = IndexRequest(.put(Array(repeating: 0, count: 20 << 20)), index: nil)
        harness.ask(101, large)
        harness.ask(102, large)
        var most = 0
        while harness.counts.count < 103 {
            _ = harness.service.carryOut()
            _ = harness.service.answer()
            harness.settle()
            most = max(
                most, harness.service.state.withLock { $0.arrived.count { ($0.indexRequest?.byteCount ?? 0) > 100 } })
        }
        #expect(most == 1)
    }

    @Test func errorsOfTheServiceReachTheirRequestAndNoOther() {
        let harness = ConnectionHarness()
        harness.ask(0, IndexRequest(.commitBatch(changes: [], clientState: [], expecting: .exactly([9])), index: "n"))
        harness.ask(1, delete)
        harness.run()
        #expect(harness.failure(0)?.name == ServiceErrorName.mismatchedClientState)
        #expect(harness.failure(1) == nil && harness.counts == [0: 1, 1: 1])
    }

    @Test func theDelegateIsRegisteredFirstAfterEachReconnectionAndSoughtForAWhile() {
        let harness = ConnectionHarness()
        harness.connection.setDelegateWanted(true)
        harness.run()
        #expect(harness.service.state.withLock { $0.otherCalls } == [Hello.member, DelegateRequest.register.member])
        harness.service.cut()
        harness.settle()
        #expect(harness.clock.timerCount == 1)
        harness.clock.runNext()
        harness.run()
        #expect(
            harness.service.state.withLock { $0.otherCalls.suffix(2) } == [
                Hello.member, DelegateRequest.register.member,
            ])
        harness.connection.setDelegateWanted(false)
        harness.run()
        #expect(harness.service.state.withLock { $0.otherCalls.last } == DelegateRequest.unregister.member)
        harness.connection.setDelegateWanted(true)
        harness.run()
        harness.service.state.withLock { $0.refusal = BusError.unreachable("gone") }
        harness.service.cut()
        harness.settle()
        while harness.clock.runNext() { harness.settle() }
        #expect((.seconds(600)...(.seconds(620))).contains(harness.clock.now))
        // The next request restores the connection.
        harness.service.state.withLock { $0.refusal = nil }
        harness.ask(0, delete)
        harness.run()
        #expect(harness.service.state.withLock { $0.otherCalls.last } == DelegateRequest.register.member)
    }

    @Test func whatBecomesOfTheDelegateWhileTheServiceIsGreetedOrAskedIsToldAfterwards() {
        let harness = ConnectionHarness()
        let commit = IndexRequest(.commitBatch(changes: [], clientState: [1], expecting: .exactly(nil)), index: "n")
        harness.ask(0, commit)
        harness.settle()
        while harness.service.state.withLock({ $0.received[0].isEmpty }) {
            _ = harness.service.carryOut()
            _ = harness.service.answer()
            harness.settle()
        }
        harness.service.cut()
        harness.settle()
        harness.clock.runNext()
        harness.settle()
        // After the greeting, `wanted` changes unnoticed.
        harness.connection.setDelegateWanted(true)
        harness.connection.setDelegateWanted(false)
        harness.settle()
        _ = harness.service.carryOut()
        _ = harness.service.answer()
        harness.settle()
        // After the request for the client state.
        #expect(harness.counts.isEmpty)
        harness.connection.setDelegateWanted(true)
        harness.settle()
        let clientState = IndexRequest.clientState(index: "n").member
        #expect(
            harness.service.state.withLock { $0.otherCalls.suffix(3) } == [
                Hello.member, clientState, DelegateRequest.register.member,
            ])
        harness.run()
        #expect(harness.counts == [0: 1] && harness.failure(0) == nil)
    }

    @Test func delaysGrowAndStayBounded() {
        var timing = ManualTiming().timing
        for chance in [0, 0.5, 0.999] {
            timing.chance = { chance }
            let delays = (1...40).map { timing.delay(beforeAttempt: $0) }
            #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 <= $1 })
            #expect(delays[0] >= .milliseconds(25) && delays[39] <= .seconds(5) && delays[39] >= .milliseconds(2500))
        }
    }
}
