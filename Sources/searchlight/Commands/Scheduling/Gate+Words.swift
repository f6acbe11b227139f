// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling

extension Gate {
    /// What it means that the gate is closed, in a few words.
    var words: String {
        switch self {
        case .disabled: "the extension is disabled"
        case .quarantined: "the extension is in quarantine"
        case .backOff: "it failed, and is left alone for a while"
        case .throttled: "you have throttled the extension"
        case .cpuQuota: "it has used its processor time"
        case .writeQuota: "it has written as much as it may"
        case .cancelled: "you have cancelled it; it is left alone for a while"
        case .turn: "another job is running"
        case .pace: "it works a little, then rests"
        case .unwatched: "the machine is being looked at"
        case .personWaiting: "somebody waits for something else"
        case .asleep: "the machine is about to sleep"
        case .justResumed: "the machine has just woken"
        case .inhibited: "a program asks that nothing begins"
        case .userActive: "somebody works at the machine"
        case .batteryLow: "the battery is nearly empty"
        case .onBattery: "the machine runs on its battery"
        case .powerSaver: "power is to be saved"
        case .hot: "the machine is hot"
        case .cpuBusy: "others use the processors"
        case .cpuPressure: "work waits for processors"
        case .ioPressure: "work waits for disks"
        case .memoryPressure: "work waits for memory"
        case .diskFloor: "the disk is nearly full"
        }
    }
}

extension JournalEntry.Kind {
    /// What was decided, in a word or two.
    var words: String {
        switch self {
        case .start: "begins"
        case .wait: "waits"
        case .pause: "pauses"
        case .resume: "goes on"
        case .stop: "is stopped"
        case .done: "is done"
        case .fail: "failed"
        }
    }
}

extension ScheduledJob.Key {
    /// What a job does, as a person would say it.
    var words: String {
        switch self {
        case .reindex(let bundle): bundle
        case .maintenance(.purgeExpired): "deleting what has expired"
        case .maintenance(.optimize): "optimizing the index"
        case .maintenance(.vacuum): "making the index smaller"
        }
    }
}

extension Usage {
    /// What was used, as a person would say it.
    var words: String {
        var parts = [
            cpu < 10 ? String(format: "%.2f s of processor time", cpu) : String(format: "%.0f s of processor time", cpu)
        ]
        if written > 0 { parts.append("\(sized(Int(clamping: written))) written") }
        return parts.joined(separator: ", ")
    }
}
