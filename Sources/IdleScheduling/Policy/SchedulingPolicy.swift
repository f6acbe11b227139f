// SPDX-License-Identifier: Apache-2.0

/// The constants of the scheduling rules, with their sources. docs/SCHEDULING.md lists them in a
/// table.
///
/// Durations are in seconds, shares are 0 to 1, sizes are in bytes.
public struct SchedulingPolicy: Hashable, Sendable {
    // MARK: Tolerances and scores

    /// The time for which search results may be wrong or incomplete. The file indexers of GNOME and
    /// KDE start within a minute on an idle machine, and so does Searchlight. Users notice delays
    /// of more than five minutes.
    public var freshnessTolerance = 300.0
    /// The time by which the renewal of expiring items may be delayed. With one week's notice, it
    /// spans several nights.
    public var expiryTolerance = 12.0 * 3600
    /// The time for which maintenance may wait. It is due once a day, and macOS also allows such
    /// activities a day.
    public var maintenanceTolerance = 24.0 * 3600
    /// The score of a job whose deadline is one tolerance ahead. At half a tolerance the score is
    /// twice as high.
    public var deadlineScore = 4.0
    /// The time before their expiry at which items are requested again.
    public var expiryNotice = 7.0 * 86400

    // MARK: Machine conditions

    /// The time after the last input for which the user is considered active. Windows waits 4 min.
    /// One minute is sufficient here, because slices of 30 s can be interrupted within half a
    /// second.
    public var userActiveSeconds = 60.0
    /// The time after a resume during which nothing starts, because all other programs also start
    /// working then.
    public var justResumedSeconds = 60.0
    /// The load of other programs above which the processors are considered busy. Windows backs off
    /// at 80 % total load. On a machine with two processors, half the load is one computing
    /// program, which must not be disturbed.
    public var cpuBusyCloses = 0.4
    /// The load of other programs below which the processors are considered free again.
    public var cpuBusyOpens = 0.3
    /// The share of processor stalls above which the gate closes. Two programs on two processors
    /// cause 1 to 2 %, three cause 50 %.
    public var cpuPressureCloses = 0.3
    /// The share of processor stalls below which the gate opens again.
    public var cpuPressureOpens = 0.15
    /// The minimum load of other programs at which processor stalls are considered. Below it, the
    /// indexer itself causes the stalls.
    public var cpuPressureOthers = 0.1
    /// The share of disk stalls above which no job starts.
    public var ioPressureCloses = 0.2
    /// The share of disk stalls below which the gate opens again.
    public var ioPressureOpens = 0.1
    /// The share of disk stalls above which a running job is paused. It includes the job's own
    /// stalls. Windows backs off at 70 %.
    public var ioPressureRunning = 0.7
    /// The time after a job ran during which disk stalls may still be its own: two of the kernel's
    /// 10 s windows.
    public var ioPressureOwn = 20.0
    /// The share of memory stalls above which no job starts.
    public var memoryPressureCloses = 0.1
    /// The share of memory stalls below which the gate opens again.
    public var memoryPressureOpens = 0.05
    /// The battery charge, in percent, below which no job runs. Windows backs off at 50. Here, the
    /// `onBattery` gate covers that range, and jobs with a high score may pass it.
    public var batteryLowCloses = 30.0
    /// The battery charge, in percent, above which the gate opens again.
    public var batteryLowOpens = 35.0
    /// The free space on the store's disk below which nothing is written. Desktops warn at 1 to 2
    /// GiB.
    public var diskFloorCloses = 2.0 * 1_073_741_824
    /// The free space above which the gate opens again.
    public var diskFloorOpens = 2.5 * 1_073_741_824

    // MARK: Slices and pauses

    /// The time a job runs until it is evaluated again.
    public var sliceFull = 30.0
    /// The time a job runs when it bypasses gates: the length of a low-rate slice.
    public var sliceRelaxed = 5.0
    /// The interval between the starts of low-rate slices. Low-rate slices together take up less
    /// than a tenth of the time. The file indexers of KDE and GNOME instead pause for 10 to 500 ms
    /// after each batch, so that a processor can never sleep.
    public var slicePeriod = 60.0
    /// The time a resumable job runs before a more urgent job replaces it.
    public var turnRun = 300.0
    /// The time a paused job keeps its slot while another job could run.
    public var turnPatience = 60.0
    /// The shortest pause of a job, so that conditions near a limit do not toggle it (GNOME's file
    /// indexer waits 5 s).
    public var pauseShortest = 5.0
    /// The longest pause of a job before it is stopped, because its worker occupies memory.
    public var pauseLongest = 1800.0
    /// The upper bound for the pause of a job that is not resumable. Its longest pause doubles with
    /// each stop.
    public var pauseLongestEver = 86400.0
    /// The time for which a job does not start after the user cancelled it.
    public var cancelPause = 4.0 * 3600

    // MARK: Fresh work

    /// The maximum number of changed files that are considered fresh work. Saving changes one file,
    /// `git pull` a few, and checking out another version of a large project changes thousands.
    public var freshFiles = 256.0
    /// The maximum total size of changed files that are considered fresh work.
    public var freshBytes = 64.0 * 1_048_576
    /// The processor time that fresh work may use in one burst while it passes gates, in seconds: a
    /// few saves.
    ///  With ``freshRate``, fresh work uses at most 1.8 s per minute, which is 3 % of one
    ///  processor: a burst of 0.4 s, one minute at the sustained rate, and 0.2 s until the next
    ///  check.
    public var freshBurst = 0.4
    /// The sustained processor time of fresh work that passes gates, in seconds per second.
    public var freshRate = 0.02

    // MARK: Quotas

    /// The length of the window to which the quotas apply.
    public var quotaWindow = 4.0 * 3600
    /// The processor time of an extension in a window, in seconds. Android allows an app 10 min in
    /// its window.
    public var quotaCPU = 600.0
    /// The bytes that an extension may write in a window. This amounts to 12 GiB per day, a
    /// thirteenth of the endurance of a disk rated for 300 TB in 5 years.
    public var quotaWritten = 2.0 * 1_073_741_824

    // MARK: Checks

    /// The interval between checks of the machine while a job waits.
    public var lookWaiting = 60.0

    // MARK: Gates

    /// The minimum scores with which a job may pass gates at a low rate. No job passes a gate that
    /// is not listed.
    public internal(set) var relaxations: [Gate: Double] = Gate.standardRelaxations
    /// The gates that are disabled, and therefore always open.
    public internal(set) var switchedOff: Set<Gate> = []

    /// The highest score: the score of a job that the user is waiting for.
    public static let highestScore = 1000.0

    /// Creates the default policy.
    public init() {}

    /// Returns `true` if changed files are few and small enough to be fresh work, which is
    /// delivered immediately.
    ///
    /// - Parameters:
    ///   - count: The number of changed files.
    ///   - bytes: Their total size.
    public func isFresh(count: some BinaryInteger, bytes: some BinaryInteger) -> Bool {
        Double(count) <= freshFiles && Double(bytes) <= freshBytes
    }

    /// Returns how long a job may wait, in seconds; 0 if the user is waiting for it.
    public func tolerance(of urgency: Urgency) -> Double {
        switch urgency {
        case .userWaiting: 0
        case .freshness: freshnessTolerance
        case .expiry: expiryTolerance
        case .maintenance: maintenanceTolerance
        }
    }

    /// Returns the score of a job, from 0 to ``highestScore``: its age divided by its tolerance, or
    /// a higher value if its deadline is near.
    ///
    /// - Parameter moment: The time in seconds since 2001-01-01 UTC. Before the request, the age is
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
