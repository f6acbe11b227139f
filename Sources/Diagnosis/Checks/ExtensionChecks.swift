// SPDX-License-Identifier: Apache-2.0

/// Checks the installed extensions: which ones are used, and the reasons why others are not.
enum ExtensionChecks {
    /// The maximum number of findings of one kind, so that a folder of broken extensions does not
    /// hide the rest.
    static let maximumTold = 16

    static func findings(_ facts: ExtensionFacts) -> [Finding] {
        var findings: [Finding] = []
        if facts.isHealthDamaged {
            findings.append(
                .problem(
                    .extensions, "health",
                    "What is held against extensions (extensions.json in the store) cannot be read.",
                    costs: "It is set aside at the next change: nothing is disabled or in quarantine any more.",
                    advice: "Look through “searchlight extensions” and disable again what you do not want."))
        }
        for refusal in facts.refusals.prefix(maximumTold) {
            findings.append(
                refusal.isShadowed
                    ? .note(
                        .extensions, "shadowed", "\(refusal.path) is not used. \(refusal.reason)",
                        costs: "Nothing, unless this is the one you meant.")
                    : .problem(
                        .extensions, "refused", "\(refusal.path) is not used. \(refusal.reason)",
                        costs: "Its app is not indexed.", advice: "searchlight extensions validate PATH tells more."))
        }
        if facts.refusals.count > maximumTold {
            let more = facts.refusals.count - maximumTold
            findings.append(
                .problem(
                    .extensions, "refused", "\(more) more are not used.", costs: "Their apps are not indexed.",
                    advice: "searchlight extensions lists them."))
        }
        var clean: [String] = []
        for item in facts.extensions {
            let own = Self.findings(of: item)
            if own.isEmpty { clean.append(item.identifier) } else { findings += own }
        }
        guard !facts.extensions.isEmpty else {
            return findings + [
                .note(
                    .extensions, "none", "No extension is installed.",
                    costs: "Only what apps donate while they run is found.",
                    advice: "searchlight extensions where shows where to put one.")
            ]
        }
        if !clean.isEmpty {
            let more = clean.count > maximumTold ? " and \(clean.count - maximumTold) more" : ""
            let names = clean.prefix(maximumTold).joined(separator: ", ") + more
            findings.insert(.ok(.extensions, "usable", "Ready to be asked: \(names)."), at: 0)
        }
        return findings
    }

    private static func findings(of item: ExtensionFacts.Extension) -> [Finding] {
        let name = item.identifier
        var findings: [Finding] = []
        if let reason = item.quarantine {
            findings.append(
                .problem(
                    .extensions, "quarantine", "\(name) is in quarantine. \(reason)",
                    costs: "It is asked for nothing, and what its app changed is not found.",
                    advice: "When it is mended: searchlight extensions release \(name)"))
        }
        if item.isDisabled {
            findings.append(
                .note(
                    .extensions, "disabled", "\(name) is disabled.", costs: "It is asked for nothing.",
                    advice: "searchlight extensions enable \(name)"))
        }
        if item.itemsSetAside > 0 {
            findings.append(
                .note(
                    .extensions, "set-aside",
                    "\(name) failed with \(item.itemsSetAside) of its items, which were set aside.",
                    costs: "These are not brought up to date.",
                    advice: "searchlight extensions info \(name) names them."))
        }
        if !item.missingLibraries.isEmpty {
            findings.append(
                .problem(
                    .extensions, "library",
                    "\(name) needs \(item.missingLibraries.joined(separator: ", ")), which is nowhere on this machine.",
                    costs: "It cannot be loaded.", advice: "Install the package that has it."))
        }
        for choice in item.missingChoices {
            findings.append(
                .note(
                    .extensions, "bound-library", "\(name) calls \(choice), which is nowhere on this machine.",
                    costs: "What it serves by that is not to be had.", advice: "Install the package that has it."))
        }
        if let compiler = item.otherCompiler {
            findings.append(
                .note(
                    .extensions, "compiler", "\(name) was built with another Swift than Searchlight: \(compiler)",
                    costs: "Swift's libraries fit only one compiler on Linux; it may fail to load, or crash.",
                    advice: "Build it with the Swift that “searchlight --version” names."))
        }
        for warning in item.warnings.prefix(maximumTold) {
            findings.append(
                .note(.extensions, "manifest", "\(name): \(warning)", costs: "It is used all the same."))
        }
        return findings
    }
}
