// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Synchronization

/// Has what is owed done when the machine has nothing better to do. It decides nothing: it tells a ``Scheduler`` what happens,
/// one thing after the other, and carries out what that wants.
///
/// *Idle*: while nothing is owed no timer runs and nothing is listened to. Whatever happens counts as a request of the service
/// while it is being dealt with, so that a resting process wakes for it; but a look at the machine does not, which is over in
/// a moment and mostly changes nothing. What it begins does.
final class IdleScheduler: Sendable {
    /// What comes in.
    enum Input: Sendable {
        /// Something that the scheduler is told.
        case event(SchedulerEvent)
        /// What is owed may have changed.
        case jobsChanged
        /// A job has ended.
        case ended(ScheduledJob.Key, SchedulerEvent.Outcome)
        /// A job stands still.
        case standsStill(ScheduledJob.Key)
        /// The time has come that was asked for.
        case due
        /// It is time to look for work to come.
        case lookAhead
        /// It was looked for.
        case hasLooked
        /// The store is wanted by somebody else: what is under way is to end.
        case giveWay
        /// Somebody wants to know something.
        case question(@Sendable (Scheduler) -> Void)

        /// Whether it only says what the machine is like.
        var isLook: Bool {
            switch self {
            case .due, .event(.conditions): true
            default: false
            }
        }
    }
    /// What goes out, besides what the runner and the source are told.
    struct Outlets: Sendable {
        /// Keeps a decision.
        var note: @Sendable (JournalEntry) -> Void = { _ in }
        /// Keeps what a job has used, and what all bundles have by then.
        var used: @Sendable (ScheduledJob.Key, Usage, UsageHistory) -> Void = { _, _, _ in }
        /// Keeps that a job has ended, and what all bundles have used by then.
        var ended: @Sendable (ScheduledJob.Key, UsageHistory) -> Void = { _, _ in }
        /// Keeps which jobs persons have cancelled, and until when each is left alone.
        var cancelled: @Sendable ([ScheduledJob.Key: Double]) -> Void = { _ in }
        /// Told whether a job is under way for which nobody waits and which does not stand still, whenever that may have
        /// changed.
        var working: @Sendable (Bool) -> Void = { _ in }
        /// Told whether anything is owed that can be done some time, whenever that may have changed.
        var owing: @Sendable (Bool) -> Void = { _ in }
        /// Called when something begins; what it gives back lives as long as that goes on.
        var onWork: @Sendable () -> any Sendable = { () }
    }

    private let inputs: AsyncStream<(Input, any Sendable)>.Continuation
    private let loop: Task<Void, Never>
    private let onWork: @Sendable () -> any Sendable
    private let pass: @Sendable (Input) -> Void
    private let source: any ConditionSource

    /// Begins to schedule.
    ///
    /// - Parameters:
    ///   - scheduler: Decides.
    ///   - runner: Does the jobs.
    ///   - source: Says what the machine is like.
    ///   - now: The present, in seconds since 2001-01-01 UTC.
    ///   - clock: Measures the timers; decisions are taken on its event loop, if it has one.
    init(
        _ scheduler: Scheduler, runner: any JobRunner, source: any ConditionSource,
        now: @escaping @Sendable () -> Double,
        clock: any Clock<Duration>, outlets: Outlets = Outlets()
    ) {
        let (stream, inputs) = AsyncStream.makeStream(of: (Input, any Sendable).self)
        self.inputs = inputs
        self.source = source
        onWork = outlets.onWork
        // A look is no work: it keeps nobody awake.
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

    /// Tells it something. Returns at once; what is told is dealt with in this order.
    func post(_ input: Input) { pass(input) }

    /// What the scheduler says of something, once all that was told before has been dealt with.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (Scheduler) -> Answer) async -> Answer? {
        await withCheckedContinuation { (continuation: CheckedContinuation<Answer?, Never>) in
            let waiter = Waiter(continuation)
            if case .terminated = inputs.yield((.question { waiter.answer(question($0)) }, onWork())) {
                waiter.answer(nil)
            }
        }
    }

    /// Stops what is under way, waits until it has ended, and schedules nothing more.
    func end() async {
        inputs.finish()
        await loop.value
        source.sense(.off)
    }
}

/// Somebody who waits for an answer, and gets none if nobody is there any more to give it.
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
