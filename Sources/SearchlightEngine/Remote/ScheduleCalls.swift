// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import IdleScheduling

struct ScheduleCall: ClientCall {
    var purpose: String { "list its background jobs" }
    var keys: [ScheduledJob.Key]?

    static let maximumKeys = 1000

    func perform(_ context: CallContext) async throws(EngineError) -> ScheduleReport {
        guard keys?.count ?? 0 <= Self.maximumKeys else {
            throw .service(.refused(during: purpose, reason: "more than \(Self.maximumKeys) jobs were named"))
        }
        return try await context.schedule(purpose).schedule(of: keys)
    }
}

struct RunJobCall: ClientCall {
    var purpose: String { "run a job now" }
    var key: ScheduledJob.Key

    func perform(_ context: CallContext) async throws(EngineError) -> Bool {
        try await context.schedule(purpose).runNow(key)
    }
}

struct CancelJobCall: ClientCall {
    var purpose: String { "stop a job" }
    var key: ScheduledJob.Key

    func perform(_ context: CallContext) async throws(EngineError) -> Bool {
        try await context.schedule(purpose).cancel(key)
    }
}

struct ThrottleCall: ClientCall {
    var purpose: String { "throttle an extension" }
    var bundle: String
    var isThrottled: Bool

    func perform(_ context: CallContext) async throws(EngineError) -> Bool {
        try await context.schedule(purpose).setThrottled(isThrottled, bundle)
    }
}

/// Prevents background work from starting. The reply follows when the call is cancelled or its
/// client disconnects.
struct InhibitCall: ClientCall {
    var purpose: String { "pause background work" }
    var who: String
    var why: String

    func perform(_ context: CallContext) async throws(EngineError) -> Done {
        try await context.schedule(purpose).inhibit(who: Self.cut(who, 100), why: Self.cut(why, 200))
        return Done()
    }

    private static func cut(_ text: String, _ bytes: Int) -> String {
        String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
    }
}

extension CallContext {
    fileprivate func schedule(_ purpose: String) throws(EngineError) -> any ScheduleService {
        guard let schedule = try service(for: purpose).schedule() else {
            throw .service(.refused(during: purpose, reason: "it is just starting or stopping"))
        }
        return schedule
    }
}

extension RemoteEngine: ScheduleService {
    package func schedule(of keys: [ScheduledJob.Key]?) async throws(EngineError) -> ScheduleReport {
        try await perform(ScheduleCall(keys: keys))
    }

    package func runNow(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool {
        try await perform(RunJobCall(key: key))
    }

    package func cancel(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool {
        try await perform(CancelJobCall(key: key))
    }

    package func setThrottled(_ isThrottled: Bool, _ bundle: String) async throws(EngineError) -> Bool {
        try await perform(ThrottleCall(bundle: bundle, isThrottled: isThrottled))
    }

    package func inhibit(who: String, why: String) async throws(EngineError) {
        try await perform(InhibitCall(who: who, why: why))
    }
}
