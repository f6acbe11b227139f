// SPDX-License-Identifier: Apache-2.0

/// Checks the required programs and libraries, and the user's configuration.
enum ProgramChecks {
    static func findings(_ facts: ProgramFacts) -> [Finding] {
        var findings: [Finding] = []
        let reinstall = "Install Searchlight again."
        if facts.isWorkerThere {
            findings.append(.ok(.programs, "worker", "The worker program is \(facts.worker)."))
        } else {
            findings.append(
                .problem(
                    .programs, "worker", "There is no worker program at \(facts.worker).",
                    costs: "No extension can run.", advice: reinstall))
        }
        if !facts.isQuickLookThere {
            findings.append(
                .problem(
                    .programs, "quicklook", "The program searchlight-quicklook is missing.",
                    costs: "“searchlight quicklook” cannot serve its page.", advice: reinstall))
        }
        if let folder = facts.frameworkFolder {
            findings.append(.ok(.programs, "library", "Extensions in Swift find libCoreSpotlight.so in \(folder)."))
        } else {
            findings.append(
                .problem(
                    .programs, "library", "libCoreSpotlight.so is not in any of its folders.",
                    costs: "No extension written in Swift can be loaded.", advice: reinstall))
        }
        let folder = facts.workerFolder
        if !folder.isFolder || !folder.isWritable {
            findings.append(
                .problem(
                    .programs, "worker-folder",
                    "The workers' folder \(folder.path) cannot be created: \(folder.nearest) is not writable.",
                    costs: "Extensions have no TMPDIR, so promised files and other temporary files fail.",
                    advice: "Check who owns it, or set XDG_CACHE_HOME."))
        }
        if let failure = facts.policyFailure {
            findings.append(
                .problem(
                    .programs, "scheduling", failure, costs: "The service uses the standard policy instead.",
                    advice: "Correct the file, and check it: searchlight schedule policy"))
        }
        let costs = [
            ("xdg-open", "“searchlight quicklook” prints its address and opens no browser.", "xdg-utils"),
            ("rsvg-convert", "“searchlight simulate --plot” draws only SVG, not PNG.", "librsvg2-bin"),
        ]
        for (name, cost, package) in costs where !facts.found.contains(name) {
            findings.append(
                .note(
                    .programs, name, "\(name) is not on the PATH.", costs: cost,
                    advice: "Install it (Debian: \(package))."))
        }
        return findings
    }
}
