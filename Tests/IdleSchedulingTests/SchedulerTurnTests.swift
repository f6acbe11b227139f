// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import Testing

@Suite("Whose turn it is")
struct SchedulerTurnTests {
    @Test("What presses more begins, of the same the older, and one at a time")
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

    @Test("After five minutes one that presses more takes the turn of one that can be cut, and of no other")
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

    @Test("A person's job takes the turn at once, and knows no gates and no pace")
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
        "A job under way begins again as a person's when one wants it, or goes on if it would begin anew",
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

    @Test("A person's wish does not pass a refusal", arguments: [ScheduledJob.Refusal.disabled, .quarantined])
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

    @Test("A wish for what is not owed ends with the next list")
    func wishForNothing() {
        var bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.runNow(Bench.a))
        bench.send(.jobs([]))
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [])
    }

    @Test("While a person waits for an answer, background work is quiet, and no longer")
    func personWaiting() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.personsWaiting(1), after: 1)
        #expect(bench.steps == [.pause(Bench.a, .personWaiting)])
        bench.send(.personsWaiting(0), after: 0.05)
        #expect(bench.steps == [.resume(Bench.a)])
    }

    @Test("A throttled extension is left alone until it may go on")
    func throttled() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.throttled(bundle: "a", true), after: 1)
        #expect(bench.steps == [.pause(Bench.a, .throttled)])
        bench.send(.throttled(bundle: "a", false), after: 10)
        #expect(bench.steps == [.resume(Bench.a)])
    }

    @Test("What was quiet for half an hour is stopped; after a minute already if another could run")
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

    @Test("One that would begin anew is given twice as long after each stop")
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

    @Test("What failed waits for the moment that the list names, and at least 30 s")
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

    @Test("A moment beyond any back-off is from before the clock was set back")
    func clockSetBack() {
        var job = Bench.job()
        job.notBefore = 1000 + 6 * 3600
        var bench = Bench()
        bench.send(.jobs([job]))
        #expect(bench.steps == [.start(Bench.a)])
        bench.send(.tick, after: -100_000)
        #expect(bench.steps == [] && bench.wake == bench.now + 30)
    }

    @Test("A cancelled job ends, and is left alone for four hours or until a person wants it")
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

    @Test("A used-up quota makes quiet until the window has moved on; another bundle's does not matter")
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

    @Test("The slice is clipped to what is left of the processor time, and bytes count, too")
    func clipped() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.used(Bench.a, Usage(cpu: 588)), after: 30)
        #expect(bench.wake == bench.now + 12)
        bench.send(.used(Bench.a, Usage(written: 2 << 30)), after: 1)
        #expect(bench.steps == [.pause(Bench.a, .writeQuota)])
    }

    @Test("A bundle that owes nothing is explained, too")
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

    @Test("An end of what is not under way, and a use of it, change nothing")
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
