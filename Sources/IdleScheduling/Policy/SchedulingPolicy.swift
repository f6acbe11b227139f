// SPDX-License-Identifier: Apache-2.0

/// The constants of the scheduling rules, with their sources. docs/SCHEDULING.md shows them as a
/// table.
///
/// Durations are in seconds, shares are 0 to 1, sizes are in bytes.
public struct SchedulingPolicy: Hashable, Sendable {
    // MARK: How much a job presses

    /// The time for which search results may be wrong or incomplete. The miners of GNOME and KDE
    /// start within a minute on an idle machine, and so does Searchlight. Users notice delays
    /// beyond five minutes.
    public var freshnessTolerance = 300.0
    /// The time for which items that are about to expire may wait. With a notice of a week this
    /// spans several nights.
    public var expiryTolerance = 12.0 * 3600
    /// The time for which maintenance may wait. It is due once a day, and macOS also gives such
    /// activities a day.
    public var maintenanceTolerance = 24.0 * 3600
    /// The score of a job whose deadline is one tolerance ahead. At half a tolerance the score is
    /// twice as high.
    public var deadlineScore = 4.0
    /// The time before their expiry at which items are requested again.
    public var expiryNotice = 7.0 * 86400

    // MARK: When the machine is left alone

    /// The time after the last input for which the user counts as active. Windows waits 4 min. Here
    /// one minute is enough, because slices of 30 s can be interrupted within half a second.
    public var userActiveSeconds = 60.0
    /// The time after a resume in which nothing starts, because all other programs start work then
    /// too.
    public var justResumedSeconds = 60.0
    /// The load of other programs above which the processors count as busy. Windows backs off at 80
    /// % total load. On two processors, half the load is one computing program, which must not be
    /// disturbed.
    public var cpuBusyCloses = 0.4
    /// The load of other programs below which the processors count as free again.
    public var cpuBusyOpens = 0.3
    /// The share of processor stalls above which the gate closes. Two programs on two processors
    /// show 1 to 2 %, three show 50 %.
    public var cpuPressureCloses = 0.3
    /// The share of processor stalls below which the gate opens again.
    public var cpuPressureOpens = 0.15
    /// The minimum load of other programs at which processor stalls count. Below it, the
    /// indexer itself causes the stalls.
    public var cpuPressureOthers = 0.1
    /// The share of disk stalls above which no job starts.
    public var ioPressureCloses = 0.2
    /// The share of disk stalls below which the gate opens again.
    public var ioPressureOpens = 0.1
    /// The share of disk stalls above which a running job is paused. It includes the stalls of the
    /// job itself. Windows backs off at 70 %.
    public var ioPressureRunning = 0.7
    /// The time after a job ran in which disk stalls may still be its own: two of the kernel's 10 s
    /// windows.
    public var ioPressureOwn = 20.0
    /// The share of memory stalls above which no job starts.
    public var memoryPressureCloses = 0.1
    /// The share of memory stalls below which the gate opens again.
    public var memoryPressureOpens = 0.05
    /// The battery charge, in percent, below which no job runs. Windows backs off at 50. Here the
    /// `onBattery` gate covers that range, and jobs with a high score may pass it.
    public var batteryLowCloses = 30.0
    /// The battery charge, in percent, above which the gate opens again.
    public var batteryLowOpens = 35.0
    /// The free space on the store's disk below which nothing is written. Desktops warn at 1 to 2
    /// GiB.
    public var diskFloorCloses = 2.0 * 1_073_741_824
    /// The free space above which the gate opens again.
    public var diskFloorOpens = 2.5 * 1_073_741_824

    // MARK: How work is cut

    /// The time a job runs until it is evaluated again.
    public var sliceFull = 30.0
    /// The time a job runs when it bypasses gates: the length of a low-rate slice.
    public var sliceRelaxed = 5.0
    /// The interval between the starts of low-rate slices. Low-rate slices together take less than
    /// a tenth of the time. The miners of KDE and GNOME instead pause 10 to 500 ms after each
    /// batch, which never lets a processor sleep.
    public var slicePeriod = 60.0
    /// The time a resumable job runs before a more urgent job replaces it.
    public var turnRun = 300.0
    /// The time a paused job keeps its slot while another job could run.
    public var turnPatience = 60.0
    /// The shortest pause of a job, so that conditions near a limit do not toggle it (GNOME's
    /// miners wait 5 s).
    public var pauseShortest = 5.0
    /// The longest pause of a job before it is stopped, because its worker holds memory.
    public var pauseLongest = 1800.0
    /// The upper bound of the pause of a job that cannot resume. Its longest pause doubles with
    /// each stop.
    public var pauseLongestEver = 86400.0
    /// The time for which a job does not start after the user cancelled it.
    public var cancelPause = 4.0 * 3600

    // MARK: What is done at once

    /// The maximum number of changed files that count as fresh work. A save is one file, `git pull`
    /// a few, and a checkout of another version of a large project thousands.
    public var freshFiles = 256.0
    /// The maximum total size of changed files that count as fresh work.
    public var freshBytes = 64.0 * 1_048_576
    /// The processor time that fresh work may use at once while it passes gates, in seconds: a few
    /// saves.
    ///
    /// With ``freshRate``, fresh work gets at most 1.8 s in a minute, which is 3 % of one
    /// processor: 0.4 s of burst, a minute at the rate, and 0.2 s until the next check.
    public var freshBurst = 0.4
    /// The sustained processor time of fresh work that bypasses gates, in seconds for each second.
    public var freshRate = 0.02

    // MARK: Quotas

    /// The window of the quotas.
    public var quotaWindow = 4.0 * 3600
    /// The processor time of an extension in a window, in seconds. Android gives an app 10 min in
    /// its window.
    public var quotaCPU = 600.0
    /// The bytes that an extension may write in a window. They amount to 12 GiB a day, a thirteenth
    /// of the endurance of a disk rated for 300 TB in 5 years.
    public var quotaWritten = 2.0 * 1_073_741_824

    // MARK: When it is looked

    /// The interval between checks of the machine while a job waits.
    public var lookWaiting = 60.0

    // MARK: Gates

    /// The scores from which a job may pass a gate at a low rate. No job passes a gate that is not
    /// listed.
    public internal(set) var relaxations: [Gate: Double] = Gate.standardRelaxations
    /// Gates that are always open.
    public internal(set) var switchedOff: Set<Gate> = []

    /// The highest score. A job for which the user waits has it.
    public static let highestScore = 1000.0

    /// Creates the default policy.
    public init() {}

    /// Returns `true` if changed files are few and small enough to be fresh work, which is
    /// delivered at once.
    ///
    /// - Parameters:
    ///   - count: The number of changed files.
    ///   - bytes: Their total size.
    public func isFresh(count: some BinaryInteger, bytes: some BinaryInteger) -> Bool {
        Double(count) <= freshFiles && Double(bytes) <= freshBytes
    }

    /// Returns the time for which a job may wait, in seconds; 0 if the user waits for it.
    public func tolerance(of urgency: Urgency) -> Double {
        switch urgency {
        case .userWaiting: 0
        case .freshness: freshnessTolerance
        case .expiry: expiryTolerance
        case .maintenance: maintenanceTolerance
        }
    }

    /// Returns the score of a job, from 0 to ``highestScore``: its age divided by its tolerance, or
    /// more if its deadline is near.
    ///
    /// - Parameter moment: The time in seconds since 2001-01-01 UTC. Before the request the age is
    ///   0.
    public func score(of job: ScheduledJob, at moment: Double) -> Double {
        let tolerance = tolerance(of: job.urgency)
        guard tolerance > 0 else { return Self.highestScore }
        let byAge = max(0, moment - job.requested) / tolerance
        guard let deadline = job.deadline else { return min(byAge, Self.highestScore) }
        let left = deadline - moment
        let byDeadline = left > 0 ? deadlineScore * tolerance / left : Self.highestScore
        return min(max(byAge, byDeadline), Self.highestScore)
    }

    /// Returns the time at which a job reaches a score.
    func moment(of score: Double, for job: ScheduledJob) -> Double {
        let tolerance = tolerance(of: job.urgency)
        let byAge = job.requested + score * tolerance
        guard let deadline = job.deadline else { return byAge }
        return min(byAge, deadline - deadlineScore * tolerance / score)
    }
}
