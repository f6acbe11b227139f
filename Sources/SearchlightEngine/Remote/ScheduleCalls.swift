// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import IdleScheduling

struct ScheduleCall: EngineCall {
    static let name = "schedule"
    var purpose: String { "say what it does in the background" }
    var keys: [ScheduledJob.Key]?

    static let maximumKeys = 1000

    func perform(_ desk: CallDesk) async throws(EngineError) -> ScheduleReport {
        guard keys?.count ?? 0 <= Self.maximumKeys else {
            throw .service(.refused(during: purpose, reason: "more than \(Self.maximumKeys) jobs were named"))
        }
        return try await desk.schedule(purpose).schedule(of: keys)
    }
}

struct RunJobCall: EngineCall {
    static let name = "schedule.run"
    var purpose: String { "do a job now" }
    var key: ScheduledJob.Key

    func perform(_ desk: CallDesk) async throws(EngineError) -> Bool { try await desk.schedule(purpose).runNow(key) }
}

struct CancelJobCall: EngineCall {
    static let name = "schedule.cancel"
    var purpose: String { "stop a job" }
    var key: ScheduledJob.Key

    func perform(_ desk: CallDesk) async throws(EngineError) -> Bool { try await desk.schedule(purpose).cancel(key) }
}

struct ThrottleCall: EngineCall {
    static let name = "schedule.throttle"
    var purpose: String { "throttle an extension" }
    var bundle: String
    var isThrottled: Bool

    func perform(_ desk: CallDesk) async throws(EngineError) -> Bool {
        try await desk.schedule(purpose).setThrottled(isThrottled, bundle)
    }
}

/// Answered when it is cancelled, or its client is gone.
struct InhibitCall: EngineCall {
    static let name = "schedule.inhibit"
    var purpose: String { "begin nothing in the background" }
    var who: String
    var why: String

    func perform(_ desk: CallDesk) async throws(EngineError) -> Done {
        try await desk.schedule(purpose).inhibit(who: Self.cut(who, 100), why: Self.cut(why, 200))
        return Done()
    }

    private static func cut(_ text: String, _ bytes: Int) -> String {
        String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
    }
}

extension CallDesk {
    fileprivate func schedule(_ purpose: String) throws(EngineError) -> any ScheduleService {
        guard let schedule = control.schedule() else {
            throw .service(.refused(during: purpose, reason: "it is just beginning or ending"))
        }
        return schedule
    }
}

extension RemoteEngine: ScheduleService {
    /// See ``ScheduleService/schedule(of:)``.
    public func schedule(of keys: [ScheduledJob.Key]?) async throws(EngineError) -> ScheduleReport {
        try await connection.perform(ScheduleCall(keys: keys)).answer
    }

    /// See ``ScheduleService/runNow(_:)``.
    public func runNow(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool {
        try await connection.perform(RunJobCall(key: key)).answer
    }

    /// See ``ScheduleService/cancel(_:)``.
    public func cancel(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool {
        try await connection.perform(CancelJobCall(key: key)).answer
    }

    /// See ``ScheduleService/setThrottled(_:_:)``.
    public func setThrottled(_ isThrottled: Bool, _ bundle: String) async throws(EngineError) -> Bool {
        try await connection.perform(ThrottleCall(bundle: bundle, isThrottled: isThrottled)).answer
    }

    /// See ``ScheduleService/inhibit(who:why:)``.
    public func inhibit(who: String, why: String) async throws(EngineError) {
        _ = try await connection.perform(InhibitCall(who: who, why: why))
    }
}
