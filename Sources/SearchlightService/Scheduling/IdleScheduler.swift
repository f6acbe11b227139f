// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Synchronization

/// Runs pending jobs when the machine is idle. It makes no decisions: it passes events to a
/// ``Scheduler`` one at a time, and performs the resulting actions.
///
/// While no job is pending, no timer is armed and no sensor is active. While an event is processed,
/// it counts as a service request, so that the event wakes up a suspended process. Readings of the
/// conditions do not count, because they are quick and mostly change nothing. Work that they start
/// does count.
final class IdleScheduler: Sendable {
    /// An input to the scheduler.
    enum Input: Sendable {
        /// An event for the scheduler.
        case event(SchedulerEvent)
        /// The pending jobs may have changed.
        case jobsChanged
        /// A job has ended.
        case ended(ScheduledJob.Key, SchedulerEvent.Outcome)
        /// A job is now paused.
        case standsStill(ScheduledJob.Key)
        /// The scheduler's timer has expired.
        case due
        /// The time of the next look-ahead has been reached.
        case lookAhead
        /// A look-ahead has ended.
        case hasLooked
        /// The store is about to be closed: jobs in progress must end.
        case giveWay
        /// A question about the scheduler's state.
        case question(@Sendable (Scheduler) -> Void)

        /// `true` if the input only reads the machine's conditions.
        var isLook: Bool {
            switch self {
            case .due, .event(.conditions): true
            default: false
            }
        }
    }
    /// The scheduler's outputs, in addition to its calls to the runner and the source.
    struct Outlets: Sendable {
        /// Logs a decision.
        var note: @Sendable (JournalEntry) -> Void = { _ in }
        /// Records a job's usage, and the total usage of all bundles.
        var used: @Sendable (ScheduledJob.Key, Usage, UsageHistory) -> Void = { _, _, _ in }
        /// Records the end of a job, and the total usage of all bundles.
        var ended: @Sendable (ScheduledJob.Key, UsageHistory) -> Void = { _, _ in }
        /// Records the jobs that the user cancelled, each with the time before which it is not
        /// started.
        var cancelled: @Sendable ([ScheduledJob.Key: Double]) -> Void = { _ in }
        /// Called with `true` if a background job is running and not paused, whenever this may have
        /// changed.
        var working: @Sendable (Bool) -> Void = { _ in }
        /// Called whenever it may have changed whether a pending job can run at any time; `true` if
        /// one can.
        var owing: @Sendable (Bool) -> Void = { _ in }
        /// Called when work begins. The returned object is kept alive until the work ends.
        var onWork: @Sendable () -> any Sendable = { () }
    }

    private let inputs: AsyncStream<(Input, any Sendable)>.Continuation
    private let loop: Task<Void, Never>
    private let onWork: @Sendable () -> any Sendable
    private let pass: @Sendable (Input) -> Void
    private let source: any ConditionSource

    /// Starts scheduling.
    ///
    /// - Parameters:
    ///   - scheduler: Makes the decisions.
    ///   - runner: Runs the jobs.
    ///   - source: Supplies the machine's conditions.
    ///   - now: Returns the current time, in seconds since 2001-01-01 UTC.
    ///   - clock: The clock for the timers. Decisions run on its event loop, if it has one.
    init(
        _ scheduler: Scheduler, runner: any JobRunner, source: any ConditionSource,
        now: @escaping @Sendable () -> Double,
        clock: any Clock<Duration>, outlets: Outlets = Outlets()
    ) {
        let (stream, inputs) = AsyncStream.makeStream(of: (Input, any Sendable).self)
        self.inputs = inputs
        self.source = source
        onWork = outlets.onWork
        // A reading of the conditions is not work: it does not keep the process awake.
        let pass = { @Sendable [onWork] input in _ = inputs.yield((input, input.isLook ? () : onWork())) }
        self.pass = pass
        let turn = SchedulerActor(
            scheduler, runner: runner, source: source, now: now, clock: clock, outlets: outlets,
            post: pass)
        loop = Task(executorPreference: clock.eventLoop) {
            for await (input, work) in stream {
                await turn.take(input)
                withExtendedLifetime(work) {}
            }
            await turn.end()
        }
        source.start { pass(.event(.conditions($0))) }
        post(.jobsChanged)
    }

    /// Queues an input. Returns immediately; inputs are processed in order.
    func post(_ input: Input) { pass(input) }

    /// Returns the answer to a question about the scheduler, after all earlier inputs were
    /// processed.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (Scheduler) -> Answer) async -> Answer? {
        await withCheckedContinuation { (continuation: CheckedContinuation<Answer?, Never>) in
            let waiter = Waiter(continuation)
            if case .terminated = inputs.yield((.question { waiter.answer(question($0)) }, onWork())) {
                waiter.answer(nil)
            }
        }
    }

    /// Stops the running jobs, waits until they have ended, and schedules nothing more.
    func end() async {
        inputs.finish()
        await loop.value
        source.sense(.off)
    }
}

/// A caller that waits for an answer. It receives `nil` if the question is dropped.
private final class Waiter<Answer: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Answer?, Never>?>

    init(_ continuation: CheckedContinuation<Answer?, Never>) { self.continuation = Mutex(continuation) }

    func answer(_ answer: Answer?) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: answer)
    }

    deinit { answer(nil) }
}
