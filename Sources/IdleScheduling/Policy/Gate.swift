// SPDX-License-Identifier: Apache-2.0

/// What may keep a job from running. The raw values are the reason codes that are shown, kept in journals and used in the
/// configuration file; they stay as they are.
public enum Gate: String, Hashable, Sendable, Codable, CaseIterable {
    // Of the job and its extension; nothing opens these but what they wait for.

    /// A person does not want the extension to be used.
    case disabled = "disabled"
    /// The extension crashed too often.
    case quarantined = "quarantined"
    /// It failed, and is left alone for a while.
    case backOff = "back-off"
    /// A person has throttled the extension (`searchlight throttle`).
    case throttled = "throttled"
    /// It has used the processor time of its window.
    case cpuQuota = "cpu-quota"
    /// It has written the bytes of its window.
    case writeQuota = "write-quota"
    /// A person has cancelled the job; it is left alone for a while.
    case cancelled = "cancelled"
    /// Another job is running.
    case turn = "turn"
    /// A relaxed slice was just made, or the job was just made quiet; what comes next has to wait.
    case pace = "pace"

    // Of the machine.

    /// Nothing was owed, so nobody watched the machine; it is being looked at now.
    case unwatched = "unwatched"
    /// A person waits for something that Searchlight is doing.
    case personWaiting = "person-waiting"
    /// The machine is about to sleep.
    case asleep = "asleep"
    /// It has just woken.
    case justResumed = "just-resumed"
    /// Somebody asks that nothing begins.
    case inhibited = "inhibited"
    /// Somebody works at it.
    case userActive = "user-active"
    /// It runs on a battery that is nearly empty.
    case batteryLow = "battery-low"
    /// It runs on a battery.
    case onBattery = "on-battery"
    /// A person chose to save power.
    case powerSaver = "power-saver"
    /// It is hot.
    case hot = "hot"
    /// Others use its processors.
    case cpuBusy = "cpu-busy"
    /// Work waits for processors.
    case cpuPressure = "cpu-pressure"
    /// Work waits for disks.
    case ioPressure = "io-pressure"
    /// Work waits for memory.
    case memoryPressure = "memory-pressure"
    /// The store's disk is nearly full.
    case diskFloor = "disk-floor"
}
