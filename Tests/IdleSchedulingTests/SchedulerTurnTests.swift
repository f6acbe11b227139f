// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import Testing

@Suite("The scheduler's slot")
struct SchedulerTurnTests {
    @Test("The most urgent job starts, then the oldest, and one at a time")
    func order() {
        var bench = Bench()
        bench.send(
            .jobs([
                Bench.job(.maintenance(.vacuum), .maintenance, requested: 0), Bench.job(Bench.b, requested: 900),
                Bench.job(Bench.a, requested: 950),
            ]))
        #expect(bench.steps == [.start(Bench.b)])
        bench.send(.ended(Bench.b, .done), after: 1)
        #expect(bench.steps == [.start(Bench.a)])
        bench.send(.ended(Bench.a, .done), after: 1)
        #expect(bench.steps == [.start(.maintenance(.vacuum))])
    }

    @Test("After five minutes a more urgent job takes the slot of a resumable one, and of no other")
    func yields() {
        for isResumable in [true, false] {
            var bench = Bench()
            let vacuum = ScheduledJob.Key.maintenance(.vacuum)
            let jobs = [Bench.job(vacuum, .maintenance, requested: 0, isResumable: isResumable)]
            bench.send(.jobs(jobs))
            bench.send(.jobs(jobs + [Bench.job(requested: 900)]), after: 1)
            #expect(bench.steps == [])
            for _ in 0..<9 { bench.send(.tick, after: 30) }
            #expect(bench.steps == [])
            bench.send(.tick, after: 30)
            #expect(bench.steps == (isResumable ? [.stop(vacuum, .busy)] : []))
            guard isResumable else { continue }
            bench.send(.ended(vacuum, .stopped), after: 1)
            #expect(bench.steps == [.start(Bench.a)])
        }
    }

    @Test("A user's job takes the slot at once, without gates and pauses")
    func runNow() {
        var bench = Bench()
        bench.send(.jobs([Bench.job(), Bench.job(Bench.b)]))
        bench.send(.runNow(Bench.b), after: 1)
        #expect(bench.steps == [.stop(Bench.a, .busy)])
        bench.send(.ended(Bench.a, .stopped))
        #expect(bench.steps == [.start(Bench.b)])
        for (_, conditions) in Conditions.closing {
            bench.send(.conditions(conditions), after: 10)
            #expect(bench.steps == [])
        }
        #expect(bench.wake == nil)
    }

    @Test(
        "A running job restarts as the user's on request, or continues if it cannot resume",
        arguments: [true, false])
    func runNowUnderWay(isQuiet: Bool) {
        for isResumable in [true, false] {
            var job = Bench.job()
            job.isResumable = isResumable
            var bench = Bench()
            bench.send(.jobs([job]))
            #expect(!bench.scheduler.isUnderWayForPerson(Bench.a))
            if isQuiet { bench.send(.conditions(.idle.with { $0.presence = .active }), after: 1) }
            bench.send(.runNow(Bench.a), after: 1)
            #expect(bench.scheduler.isUnderWayForPerson(Bench.a))
            #expect(bench.steps == (isResumable ? [.stop(Bench.a, .busy)] : isQuiet ? [.resume(Bench.a)] : []))
            guard isResumable else { continue }
            bench.send(.ended(Bench.a, .stopped), after: 1)
            #expect(bench.steps == [.start(Bench.a)] && bench.scheduler.isUnderWayForPerson(Bench.a))
        }
    }

    @Test("A user's request does not pass a refusal", arguments: [ScheduledJob.Refusal.disabled, .quarantined])
    func refused(refusal: ScheduledJob.Refusal) {
        var job = Bench.job()
        job.refusal = refusal
        var bench = Bench()
        bench.send(.jobs([job]))
        bench.send(.runNow(Bench.a))
        #expect(bench.steps == [] && bench.wake == nil)
        #expect(bench.closed() == [refusal == .disabled ? .disabled : .quarantined])
        job.refusal = nil
        bench.send(.jobs([job]))
        #expect(bench.steps == [.start(Bench.a)])
        job.refusal = refusal
        bench.send(.jobs([job]))
        #expect(bench.steps == [.stop(Bench.a, refusal == .disabled ? .disabled : .quarantined)])
    }

    @Test("A request for a job that is not pending ends with the next list")
    func wishForNothing() {
        var bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.runNow(Bench.a))
        bench.send(.jobs([]))
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [])
    }

    @Test("While the user waits for an answer, background work is paused, and no longer")
    func personWaiting() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.personsWaiting(1), after: 1)
        #expect(bench.steps == [.pause(Bench.a, .personWaiting)])
        bench.send(.personsWaiting(0), after: 0.05)
        #expect(bench.steps == [.resume(Bench.a)])
    }

    @Test("A throttled extension does not run until it is released")
    func throttled() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.throttled(bundle: "a", true), after: 1)
        #expect(bench.steps == [.pause(Bench.a, .throttled)])
        bench.send(.throttled(bundle: "a", false), after: 10)
        #expect(bench.steps == [.resume(Bench.a)])
    }

    @Test("A job that was paused for half an hour is stopped, or after a minute if another could run")
    func stopped() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.conditions(.idle.with { $0.pressure.memory = 0.5 }), after: 1)
        bench.send(.tick, after: 1799)
        #expect(bench.steps == [])
        bench.send(.tick, after: 1)
        #expect(bench.steps == [.stop(Bench.a, .memoryPressure)])

        bench = Bench()
        bench.send(.jobs([Bench.job(), Bench.job(Bench.b)]))
        bench.send(.throttled(bundle: "a", true), after: 1)
        #expect(bench.wake == bench.now + 60)
        bench.send(.tick, after: 60)
        #expect(bench.steps == [.stop(Bench.a, .throttled)])
        bench.send(.ended(Bench.a, .stopped))
        #expect(bench.steps == [.start(Bench.b)])
    }

    @Test("A job that cannot resume gets twice the time after each stop")
    func patience() {
        var bench = Bench()
        bench.send(.jobs([Bench.job(isResumable: false)]))
        for stops in 0..<3 {
            bench.send(.conditions(.idle.with { $0.pressure.memory = 0.5 }), after: 1)
            bench.send(.tick, after: 1800 * Double(1 << stops) - 1)
            #expect(bench.steps == [])
            bench.send(.tick, after: 1)
            #expect(bench.steps == [.stop(Bench.a, .memoryPressure)])
            bench.send(.ended(Bench.a, .stopped))
            bench.send(.conditions(.idle), after: 1)
            #expect(bench.steps == [.start(Bench.a)])
        }
    }

    @Test("A failed job waits for the listed time, and at least 30 s")
    func backOff() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.ended(Bench.a, .failed(reason: "no")), after: 1)
        #expect(bench.last.contains(.sense(.off)) && bench.journal.last?.reason == "no")
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [] && bench.closed() == [.backOff] && bench.wake == bench.now + 30)
        var job = Bench.job()
        job.notBefore = bench.now + 240
        bench.send(.jobs([job]))
        #expect(bench.wake == bench.now + 240)
        bench.send(.tick, after: 240)
        bench.send(.conditions(.idle))
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test("A time beyond any back-off stems from a clock that was set back")
    func clockSetBack() {
        var job = Bench.job()
        job.notBefore = 1000 + 6 * 3600
        var bench = Bench()
        bench.send(.jobs([job]))
        #expect(bench.steps == [.start(Bench.a)])
        bench.send(.tick, after: -100_000)
        #expect(bench.steps == [] && bench.wake == bench.now + 30)
    }

    @Test("A cancelled job ends, and does not run for four hours or until the user requests it")
    func cancelled() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.cancel(Bench.a), after: 1)
        #expect(bench.steps == [.stop(Bench.a, .cancelled)])
        bench.send(.ended(Bench.a, .stopped), after: 1)
        #expect(bench.steps == [] && bench.closed() == [.cancelled])
        #expect(bench.wake == bench.now - 1 + 14400)
        bench.send(.runNow(Bench.a), after: 1)
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test("A used-up quota pauses a bundle until the window has moved on, and no other bundle")
    func quota() throws {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.used(Bench.a, Usage(cpu: 599)), after: 20)
        #expect(bench.steps == [])
        bench.send(.used(Bench.a, Usage(cpu: 2)), after: 1)
        #expect(bench.steps == [.pause(Bench.a, .cpuQuota)])
        let explanation = bench.scheduler.explanation(of: Bench.a, at: bench.now)
        #expect(explanation.quota?.used.cpu == 601 && explanation.quota?.cpuLimit == 600)
        let state = try #require(explanation.gates.first { $0.gate == .cpuQuota })
        #expect(state.measured == 601 && state.limit == 600)
        let opens = try #require(state.opens)
        #expect(opens >= bench.now + 14400 - 21 && opens <= bench.now + 14400 + 300)
        bench.send(.jobs([Bench.job(), Bench.job(Bench.b)]))
        bench.send(.tick, after: 60)
        bench.send(.ended(Bench.a, .stopped))
        #expect(bench.steps == [.start(Bench.b)])
    }

    @Test("The slice is limited to the remaining processor time and bytes")
    func clipped() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.used(Bench.a, Usage(cpu: 588)), after: 30)
        #expect(bench.wake == bench.now + 12)
        bench.send(.used(Bench.a, Usage(written: 2 << 30)), after: 1)
        #expect(bench.steps == [.pause(Bench.a, .writeQuota)])
    }

    @Test("A bundle without pending jobs is explained too")
    func owesNothing() throws {
        let bench = Bench(.idle.with { $0.otherLoad = 0.55 })
        let explanation = bench.scheduler.explanation(of: Bench.a, at: bench.now)
        #expect(explanation.decision == .nothingOwed && explanation.job == nil && explanation.nextLook == nil)
        #expect(explanation.gates.count == Gate.allCases.count)
        let busy = try #require(explanation.gates.first { $0.gate == .cpuBusy })
        #expect(busy.state == .closed && busy.measured == 0.55 && busy.limit == 0.3 && busy.unit == .share)
        #expect(busy.relaxes == bench.now + 6 * 300 && busy.remedy != nil)
        let decoded = try JSONDecoder().decode(JobExplanation.self, from: JSONEncoder().encode(explanation))
        #expect(decoded == explanation)
    }

    @Test("The end and the use of a job that does not run change nothing")
    func strangers() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        for event in [SchedulerEvent.ended(Bench.b, .done), .used(Bench.b, Usage(cpu: 1e9)), .cancel(Bench.b)] {
            bench.send(event)
            #expect(bench.last == [])
        }
        #expect(bench.scheduler.jobsUnderWay == [Bench.a])
    }
}
