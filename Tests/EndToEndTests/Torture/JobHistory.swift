// SPDX-License-Identifier: Apache-2.0

/// Parses the log of requests, engines and extensions in a torture of jobs (JobsTrial.swift,
/// jobs.c), and checks the invariants.
struct JobHistory {
    /// The subject of a request: everything (`nil`) or one item.
    private struct Subject: Hashable {
        var bundle: String
        var item: String?
    }
    private struct Want {
        var begun: Int
        /// The position from which the request is certainly durable. If the request was
        /// interrupted, it may become durable only when the store is next opened.
        var certain: Int?
        /// `true` if the request was reported as durable.
        var isPromised = false
        var isAcknowledged = false
    }
    private var wants: [Subject: [Want]] = [:]
    /// For each bundle, the positions at which the last job, and the last completed job, started.
    private var taken: [String: Int] = [:]
    private var struck: [String: Int] = [:]
    private var struckItems: [String: Int] = [:]
    private var lastAsked: [String: Int] = [:]
    /// The start of each check for expiring items, and the position at which its effect is certain.
    private var looks: [(begun: Int, certain: Int?)] = []

    private(set) var faults: [String] = []
    private(set) var requests = 0
    private(set) var acknowledgements = 0
    private(set) var strikes = 0
    /// The number of repeated requests that had not been completed before.
    private(set) var repeated = 0
    private var askedBefore: Set<Subject> = []

    init(_ lines: [String]) {
        for (moment, line) in lines.enumerated() {
            let count = faults.count
            read(line, at: moment)
            guard faults.count > count else { continue }
            // Adds the earlier lines about the same bundle to the message.
            let bundle = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            let before = lines[..<moment].enumerated().filter { $0.1.contains(bundle) || $0.1 == "opened" }.suffix(14)
            faults[faults.count - 1] += " after " + before.map { "\($0.0): \($0.1)" }.joined(separator: "; ")
        }
        for (subject, wants) in wants {
            for want in wants where want.isPromised && !want.isAcknowledged {
                faults.append("line \(want.begun): \(subject.bundle) \(subject.item ?? "all") was never acknowledged")
            }
        }
    }

    private mutating func read(_ line: String, at moment: Int) {
        let words = line.split(separator: " ").map(String.init)
        guard let what = words.first else { return }
        let bundle = words.count > 1 ? words[1] : ""
        let items: [String?] = words.dropFirst(2).first == "all" ? [nil] : words.dropFirst(3).map { Optional($0) }
        let subjects = items.map { Subject(bundle: bundle, item: $0) }
        switch what {
        case "opened":
            for subject in wants.keys { settle(subject, at: moment, isPromised: false) }
            settleLooks(at: moment)
        case "want":
            requests += 1
            for subject in subjects { wants[subject, default: []].append(Want(begun: moment)) }
        case "wanted": for subject in subjects { settle(subject, at: moment, isPromised: true) }
        case "look": looks.append((moment, nil))
        case "looked": if !looks.isEmpty { settleLooks(at: moment) }
        case "run": taken[bundle] = moment
        case "struck":
            strikes += 1
            // A resumed paged reindex completes the items that were requested before its first
            // page.
            struck[bundle] = taken[bundle]
            struckItems[bundle] = min(taken[bundle] ?? moment, lastAsked[bundle] ?? moment)
            askedBefore = askedBefore.filter { $0.bundle != bundle }
        case "asked":
            lastAsked[bundle] = moment
            for subject in subjects { ask(subject, at: moment, line) }
        case "ack":
            acknowledgements += 1
            acknowledge(bundle, items, at: lastAsked[bundle] ?? moment)
        default: break
        }
    }

    private mutating func settleLooks(at moment: Int) {
        for index in looks.indices where looks[index].certain == nil { looks[index].certain = moment }
    }

    private mutating func settle(_ subject: Subject, at moment: Int, isPromised: Bool) {
        for index in (wants[subject] ?? []).indices where wants[subject]?[index].certain == nil {
            wants[subject]?[index].certain = moment
            wants[subject]?[index].isPromised = isPromised
        }
    }

    /// Checks that a request to the extension has a reason: it was requested after the last
    /// completed job started, or it is part of that job.
    private mutating func ask(_ subject: Subject, at moment: Int, _ line: String) {
        if !askedBefore.insert(subject).inserted { repeated += 1 }
        let since = (subject.item == nil ? struck : struckItems)[subject.bundle] ?? -1
        let isWanted = wants[subject]?.contains { $0.certain.map { $0 > since } ?? true } == true
        // Any item may have been about to expire.
        let isLooked = subject.item != nil && looks.contains { $0.certain.map { $0 > since } ?? true }
        if !isWanted && !isLooked { faults.append("line \(moment): “\(line)” was struck out before") }
    }

    /// An acknowledgement completes all work that was requested before the call to the extension. A
    /// full reindex also completes items.
    private mutating func acknowledge(_ bundle: String, _ items: [String?], at asked: Int) {
        let isEverything = items.contains(nil)
        for subject in wants.keys where subject.bundle == bundle && (isEverything || items.contains(subject.item)) {
            // A repeated request for a full reindex is satisfied by a paged reindex in progress.
            let isContent = subject.item == nil && bundle.hasSuffix("paged")
            let moment = isContent ? max(asked, taken[bundle] ?? asked) : asked
            for index in (wants[subject] ?? []).indices where wants[subject]?[index].begun ?? .max < moment {
                wants[subject]?[index].isAcknowledged = true
            }
        }
    }
}
