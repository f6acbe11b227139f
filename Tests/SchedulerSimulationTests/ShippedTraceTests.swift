// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import SchedulerSimulation
import Testing

@Suite("Shipped traces")
struct ShippedTraceTests {
    private func replay(_ name: String) throws -> Replay {
        SchedulerSimulator.replay(try #require(ShippedTrace(name: name)).trace())
    }
    private func work(_ replay: Replay) -> [Replay.Span<Replay.Activity>] {
        replay.jobs.flatMap(\.spans).filter { ![.waiting, .paused].contains($0.kind) }
    }
    /// Returns the run time of work within intervals, in seconds.
    private func overlap(_ work: [Replay.Span<Replay.Activity>], _ spans: [ClosedRange<Double>]) -> Double {
        work.reduce(0) { sum, one in
            sum + spans.reduce(0) { $0 + max(0, min(one.end, $1.upperBound) - max(one.start, $1.lowerBound)) }
        }
    }
    private func closed(_ gate: Gate, _ replay: Replay) -> [ClosedRange<Double>] {
        replay.gates.filter { $0.kind == gate }.map { $0.start...$0.end }
    }
    private func job(_ name: String, _ replay: Replay) throws -> Replay.JobSummary {
        try #require(replay.jobs.first { $0.key == ScheduledJob.Key(name: name) })
    }

    @Test("Each is a valid trace with a description, named after its file", arguments: ShippedTrace.all)
    func readable(shipped: ShippedTrace) throws {
        let trace = try shipped.trace()
        #expect(trace.name == shipped.name && trace.description == shipped.summary)
        #expect(trace.events.last?.happening == .end)
        #expect(ShippedTrace(name: shipped.name) == shipped)
    }

    @Test("A day at the office: all is done, and almost nothing while the user is active")
    func officeDay() throws {
        let replay = try replay("laptop-office-day")
        #expect(replay.jobs.allSatisfy { !$0.isOwed && $0.done == $0.requests })
        // While the user is active, jobs run for less than a twelfth of the time, not counting the
        // user's requests.
        let persons = work(replay).filter { $0.kind == .wanted }.reduce(0) { $0 + $1.length }
        #expect(replay.totals.runningWhileActive - persons < replay.totals.active / 12)
        let full = work(replay).filter { $0.kind == .running }
        #expect(overlap(full, closed(.userActive, replay)) == 0)
        #expect(replay.totals.returns == 3 && replay.totals.longestToQuiet <= 0.5 + 1e-6)
        // The user is away for the lunch, the call and the sleep. Maintenance waits for lunch.
        let lunch = replay.start + 3.9 * 3600...replay.start + 5 * 3600
        #expect(try job("optimize", replay).finished.map(lunch.contains) == true)
        #expect(overlap(work(replay), closed(.asleep, replay)) == 0)
        #expect(overlap(work(replay).filter { $0.kind != .wanted }, closed(.inhibited, replay)) == 0)
        // The user's throttle is in effect, and so is the user's request.
        let throttled = replay.throttled.map { $0.start...$0.end }
        let photos = try job("org.example.photos", replay).spans.filter {
            ![.waiting, .paused, .quieting].contains($0.kind)
        }
        #expect(throttled.count == 1 && overlap(photos, throttled) == 0)
        #expect(try job("org.example.notes", replay).spans.contains { $0.kind == .wanted && $0.length == 8 })
    }

    @Test("On a battery: urgent work slowly, nothing once it is low, and all within ten minutes on mains")
    func onBattery() throws {
        let replay = try replay("laptop-on-battery")
        let battery = closed(.onBattery, replay)
        #expect(overlap(work(replay).filter { $0.kind != .relaxed && $0.kind != .quieting }, battery) == 0)
        let slow = overlap(work(replay), battery)
        #expect(slow > 59 && slow < battery.reduce(0) { $0 + $1.upperBound - $1.lowerBound } / 12)
        let low = closed(.batteryLow, replay)
        #expect(low.count == 1 && low[0].upperBound - low[0].lowerBound > 6000 && overlap(work(replay), low) == 0)
        let plugged = try #require(battery.last?.upperBound)
        for job in replay.jobs { #expect(!job.isOwed && (job.finished ?? .infinity) < plugged + 600) }
    }

    @Test(
        "A build server: never during a build, and each build's changes are found within 6.5 minutes")
    func buildServer() throws {
        let replay = try replay("build-server")
        #expect(closed(.cpuBusy, replay).count == 16)
        let full = work(replay).filter { $0.kind != .quieting }
        #expect(overlap(full, closed(.cpuBusy, replay)) == 0)
        let sources = try job("org.example.sources", replay)
        #expect(sources.done == 16 && sources.longestTime <= 360.5 && sources.relaxedSlices == 0)
        let optimize = try job("optimize", replay)
        #expect(optimize.done == 1 && optimize.stops >= 1 && abs(optimize.usage.cpu - 500) < 1e-6)
    }

    @Test("Never idle: every job still ends within its bound, with slices below a twelfth of the time")
    func neverIdle() throws {
        let replay = try replay("never-idle")
        #expect(work(replay).allSatisfy { $0.kind == .relaxed || $0.kind == .quieting })
        // The time until the score bypasses the gate for busy processors, plus twelve times the
        // job's own work and the work of the jobs before it.
        let bounds: [String: (passes: Double, work: Double)] = [
            "org.example.mail": (6 * 300, 60), "org.example.notes": (6 * 300, 60 + 90),
            // Three times half of the work, plus two back-offs.
            "org.example.feeds": (6 * 300 + 90, 40), "org.example.calendar": (6 * 43200, 30),
            "optimize": (6 * 86400, 45),
        ]
        #expect(bounds.count == replay.jobs.count)
        for (name, bound) in bounds {
            let job = try job(name, replay)
            #expect(!job.isOwed && job.done == job.requests, "\(name)")
            #expect(job.longestTime <= bound.passes + 12 * bound.work + 120, "\(name): \(job.longestTime)")
            #expect(job.longestTime >= bound.passes, "\(name): \(job.longestTime)")
        }
        // Five seconds, plus the time to pause, in any minute.
        for one in work(replay) { #expect(overlap(work(replay), [one.start...one.start + 59.9]) <= 5.6) }
    }

    @Test("Waking: running jobs pause within half a second of sleep, and none runs for a minute after it")
    func resume() throws {
        let replay = try replay("resume-from-sleep")
        let sleeps = closed(.asleep, replay)
        #expect(sleeps.count == 2)
        #expect(overlap(work(replay), sleeps.map { $0.lowerBound + 0.5...$0.upperBound }) == 0)
        for sleep in sleeps {
            #expect(overlap(work(replay), [sleep.lowerBound - 1...sleep.lowerBound]) > 0.9, "something ran before")
            #expect(overlap(work(replay), [sleep.upperBound...sleep.upperBound + 60]) == 0)
            #expect(overlap(work(replay), [sleep.upperBound + 60...sleep.upperBound + 61]) > 0.9, "and continues after")
        }
        // Paged jobs continue where they stopped, so no work was done twice.
        let mail = try job("org.example.mail", replay)
        #expect(abs(mail.usage.cpu - 300) < 1e-6 && mail.stops == 1)
        #expect(replay.jobs.allSatisfy { !$0.isOwed })
    }
}
