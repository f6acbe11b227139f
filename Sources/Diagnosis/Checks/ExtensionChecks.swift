// SPDX-License-Identifier: Apache-2.0

/// Checks the installed extensions: which are used, and why others are not.
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
                    "The state of the extensions (extensions.json in the store) cannot be read.",
                    costs: "The next change replaces it; disabled and quarantined extensions are then used again.",
                    advice: "List the extensions with “searchlight extensions”, and disable unwanted ones again."))
        }
        for refusal in facts.refusals.prefix(maximumTold) {
            findings.append(
                refusal.isShadowed
                    ? .note(
                        .extensions, "shadowed", "\(refusal.path) is not used. \(refusal.reason)",
                        costs: "Nothing, unless you meant this extension.")
                    : .problem(
                        .extensions, "refused", "\(refusal.path) is not used. \(refusal.reason)",
                        costs: "Its app is not indexed.", advice: "To see more: searchlight extensions validate PATH"))
        }
        if facts.refusals.count > maximumTold {
            let more = facts.refusals.count - maximumTold
            findings.append(
                .problem(
                    .extensions, "refused", "\(more) more extensions are not used.",
                    costs: "Their apps are not indexed.",
                    advice: "To list them: searchlight extensions"))
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
                    costs: "Only items that running apps donate are found.",
                    advice: "To see where to put one: searchlight extensions where")
            ]
        }
        if !clean.isEmpty {
            let more = clean.count > maximumTold ? " and \(clean.count - maximumTold) more" : ""
            let names = clean.prefix(maximumTold).joined(separator: ", ") + more
            findings.insert(.ok(.extensions, "usable", "Ready for requests: \(names)."), at: 0)
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
                    costs: "It gets no requests, and changes of its app are not found.",
                    advice: "After it is fixed: searchlight extensions release \(name)"))
        }
        if item.isDisabled {
            findings.append(
                .note(
                    .extensions, "disabled", "\(name) is disabled.", costs: "It gets no requests.",
                    advice: "searchlight extensions enable \(name)"))
        }
        if item.itemsSetAside > 0 {
            findings.append(
                .note(
                    .extensions, "set-aside",
                    "\(name) failed with \(item.itemsSetAside) of its items, which are skip-listed.",
                    costs: "These items are not updated.",
                    advice: "To list them: searchlight extensions info \(name)"))
        }
        if !item.missingLibraries.isEmpty {
            findings.append(
                .problem(
                    .extensions, "library",
                    "\(name) needs \(item.missingLibraries.joined(separator: ", ")), which is not on this machine.",
                    costs: "It cannot be loaded.", advice: "Install the package with this library."))
        }
        for choice in item.missingChoices {
            findings.append(
                .note(
                    .extensions, "bound-library", "\(name) calls \(choice), which is not on this machine.",
                    costs: "Its requests that need this library fail.", advice: "Install the package with this library."
                ))
        }
        if let compiler = item.otherCompiler {
            findings.append(
                .note(
                    .extensions, "compiler", "\(name) was built with a different Swift than Searchlight: \(compiler)",
                    costs: "It may fail to load, or crash: Swift has no stable ABI on Linux.",
                    advice: "Build it with the Swift version that “searchlight --version” prints."))
        }
        for warning in item.warnings.prefix(maximumTold) {
            findings.append(
                .note(.extensions, "manifest", "\(name): \(warning)", costs: "Nothing: it is used."))
        }
        return findings
    }
}
