// SPDX-License-Identifier: Apache-2.0

/// The rules' constants: how long jobs can wait, when the machine is left alone, how much work is done at once. All of them
/// are here, with where they come from; docs/SCHEDULING.md shows them as a table.
///
/// Durations are in seconds, shares 0 to 1, sizes in bytes.
public struct SchedulingPolicy: Hashable, Sendable {
    // MARK: How much a job presses

    /// How long something that can be found wrongly, or not, may stay so. Miners of GNOME and KDE begin within a minute
    /// on an idle machine, and so does this; beyond five minutes people notice.
    public var freshnessTolerance = 300.0
    /// How long items that are about to expire may wait; with a notice of a week that is several nights.
    public var expiryTolerance = 12.0 * 3600
    /// How long care for the index may wait: it is wanted once a day (macOS gives such activities a day, too).
    public var maintenanceTolerance = 24.0 * 3600
    /// The score of a job whose deadline is one tolerance ahead; half a tolerance before it has twice that.
    public var deadlineScore = 4.0
    /// How long before items expire they are asked for anew.
    public var expiryNotice = 7.0 * 86400

    // MARK: When the machine is left alone

    /// A person counts as active so long after the last input. Windows waits 4 min; with slices of 30 s that can be cut
    /// within half a second, one is enough.
    public var userActiveSeconds = 60.0
    /// After waking, the machine is left alone so long: everything else starts then, too.
    public var justResumedSeconds = 60.0
    /// More of the processors used by others, and they are busy. Windows backs off at 80 % of all use; half of a machine
    /// with two processors is one program that computes, and it is to be left alone.
    public var cpuBusyCloses = 0.4
    /// Less, and they are not busy any more.
    public var cpuBusyOpens = 0.3
    /// More waiting for processors, and they are short. Two programs on two processors show 1 to 2 %, three 50 %.
    public var cpuPressureCloses = 0.3
    /// Less, and they are not short any more.
    public var cpuPressureOpens = 0.15
    /// Waiting for processors counts only if others use more of them than this; else it is the indexer's own.
    public var cpuPressureOthers = 0.1
    /// More waiting for disks, and nothing begins.
    public var ioPressureCloses = 0.2
    /// Less, and they are not short any more.
    public var ioPressureOpens = 0.1
    /// More waiting for disks while a job runs, and it is made quiet. It sees its own; Windows backs off at 70 %.
    public var ioPressureRunning = 0.7
    /// So long after a job ran, waiting for disks may still be its own: two of the kernel's windows of 10 s.
    public var ioPressureOwn = 20.0
    /// More waiting for memory, and nothing begins.
    public var memoryPressureCloses = 0.1
    /// Less, and there is enough again.
    public var memoryPressureOpens = 0.05
    /// On a battery less full than this, in percent, nothing is done at all. Windows backs off at 50; here that is what
    /// the gate for batteries is for, which work that has waited long may pass.
    public var batteryLowCloses = 30.0
    /// Fuller, in percent, and it is not low any more.
    public var batteryLowOpens = 35.0
    /// With less free on the store's disk nothing is written; desktops warn at 1 to 2 GiB.
    public var diskFloorCloses = 2.0 * 1_073_741_824
    /// With more it is written again.
    public var diskFloorOpens = 2.5 * 1_073_741_824

    // MARK: How work is cut

    /// How long a job runs until everything is judged anew.
    public var sliceFull = 30.0
    /// How long it runs when it passes gates.
    public var sliceRelaxed = 5.0
    /// How far apart the beginnings of such slices are: together they take less than a tenth. KDE's and GNOME's miners
    /// pause 10 to 500 ms after each batch instead, which never lets a processor sleep.
    public var slicePeriod = 60.0
    /// A job that can be cut runs so long before one that presses more takes its turn.
    public var turnRun = 300.0
    /// A job that is quiet keeps its turn so long while another could run.
    public var turnPatience = 60.0
    /// A job that was made quiet stays so at least this long, so that a machine between two states does not make it stutter
    /// (GNOME's miners wait 5 s).
    public var pauseShortest = 5.0
    /// A job that was made quiet is stopped after so long: its worker holds memory.
    public var pauseLongest = 1800.0
    /// One that would begin anew is given twice as long with each stop, up to this.
    public var pauseLongestEver = 86400.0
    /// A job that a person cancelled is left alone so long.
    public var cancelPause = 4.0 * 3600

    // MARK: What is done at once

    /// Changes of more files than this are no fresh work. A save is one file, and `git pull` a few; a checkout of another
    /// version of a large project is thousands.
    public var freshFiles = 256.0
    /// Changed files of more bytes than this together are no fresh work.
    public var freshBytes = 64.0 * 1_048_576
    /// The processor time that fresh work may use at once while it passes gates, in seconds: a few saves. With ``freshRate`` no
    /// minute has more than 3 % of one processor, 1.8 s: 0.4 s, a minute of the rate, and 0.2 s until a look finds it.
    public var freshBurst = 0.4
    /// The processor time that it may use on and on, in seconds for each second.
    public var freshRate = 0.02

    // MARK: How much is done at all

    /// The window of the quotas.
    public var quotaWindow = 4.0 * 3600
    /// The processor time of an extension in a window, in seconds. Android gives an app 10 min in its window.
    public var quotaCPU = 600.0
    /// The bytes that an extension writes in a window: 12 GiB a day, a thirteenth of what a disk
    /// for 300 TB in 5 years bears.
    public var quotaWritten = 2.0 * 1_073_741_824

    // MARK: When it is looked

    /// How often the machine is looked at while something waits.
    public var lookWaiting = 60.0

    // MARK: Gates

    /// At which score a job may pass a gate, slowly; one that is not here is never passed.
    public internal(set) var relaxations: [Gate: Double] = Gate.standardRelaxations
    /// Gates that are always open.
    public internal(set) var switchedOff: Set<Gate> = []

    /// No score is higher; that of a job for which a person waits.
    public static let highestScore = 1000.0

    /// The policy of this file.
    public init() {}

    /// Whether changes of files are fresh work: few enough, and small enough, to be told at once.
    ///
    /// - Parameters:
    ///   - count: How many files have changed.
    ///   - bytes: How large they are together.
    public func isFresh(count: some BinaryInteger, bytes: some BinaryInteger) -> Bool {
        Double(count) <= freshFiles && Double(bytes) <= freshBytes
    }

    /// How long a job of an urgency can wait, in seconds; 0 if a person waits for it.
    public func tolerance(of urgency: Urgency) -> Double {
        switch urgency {
        case .userWaiting: 0
        case .freshness: freshnessTolerance
        case .expiry: expiryTolerance
        case .maintenance: maintenanceTolerance
        }
    }

    /// How much a job presses: its age over what it tolerates, or more if its deadline is near; 0 to ``highestScore``.
    ///
    /// - Parameter moment: In seconds since 2001-01-01 UTC. Before the job was requested its age is 0.
    public func score(of job: ScheduledJob, at moment: Double) -> Double {
        let tolerance = tolerance(of: job.urgency)
        guard tolerance > 0 else { return Self.highestScore }
        let byAge = max(0, moment - job.requested) / tolerance
        guard let deadline = job.deadline else { return min(byAge, Self.highestScore) }
        let left = deadline - moment
        let byDeadline = left > 0 ? deadlineScore * tolerance / left : Self.highestScore
        return min(max(byAge, byDeadline), Self.highestScore)
    }

    /// When a job reaches a score.
    func moment(of score: Double, for job: ScheduledJob) -> Double {
        let tolerance = tolerance(of: job.urgency)
        let byAge = job.requested + score * tolerance
        guard let deadline = job.deadline else { return byAge }
        return min(byAge, deadline - deadlineScore * tolerance / score)
    }
}
