// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Diagnosis
import SearchlightEngine

struct DoctorCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine for everything that Searchlight needs, and name the effect of each missing part.",
        discussion: """
            Checks the kernel, sensors, programs, the store, the service and extensions. A note names a missing part that \
            only limits one feature; a problem is something that does not work, or is not safe. The check changes and \
            starts nothing, opens no index, and waits a few seconds at most for an answer. To check the index itself, run \
            “searchlight verify”.

            Exit status: 0 if there is no problem, 1 otherwise.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Hide checks that passed.")
    var quiet = false

    func perform() async throws {
        let roots = DiagnosisRoots(
            environment: options.environment, store: options.storeDirectory,
            extensionSearchPath: options.extensionSearchPath)
        let facts = await MachineFacts(roots, installation: Installation(environment: options.environment))
        let diagnosis = Diagnosis(facts)
        if options.json { try Output.printJSON(JSONObject(diagnosis)) } else { try show(diagnosis) }
        if diagnosis.count(.problem) > 0 { throw ExitCode(ExitStatus.failure.rawValue) }
    }

    private func show(_ diagnosis: Diagnosis) throws {
        for area in Finding.Area.allCases {
            let findings = diagnosis.findings.filter { $0.area == area && !(quiet && $0.level == .ok) }
            guard !findings.isEmpty else { continue }
            try Output.line("\(bold: area.title)")
            for finding in findings {
                for line in DoctorLayout.lines(of: finding) { try Output.line(line) }
            }
        }
        let (problems, notes) = (diagnosis.count(.problem), diagnosis.count(.note))
        try Output.line(
            problems == 0
                ? "No problems, \(counted(notes, "note"))."
                : "\(bad: counted(problems, "problem")), \(counted(notes, "note")).")
    }
}

extension Finding.Area {
    fileprivate var title: String {
        switch self {
        case .kernel: "Kernel"
        case .machine: "Sensors"
        case .programs: "Programs"
        case .store: "Store"
        case .service: "Service"
        case .extensions: "Extensions"
        }
    }
}

/// Formats a finding as lines for a terminal of 80 columns.
private enum DoctorLayout {
    private static let columns = 80
    private static let indent = 11

    static func lines(of finding: Finding) -> [StyledText] {
        let level: StyledText =
            switch finding.level {
            case .ok: "  \(good: "ok")       "
            case .note: "  \(bold: "note")     "
            case .problem: "  \(bad: "problem")  "
            }
        let margin = StyledText(stringLiteral: String(repeating: " ", count: indent))
        var lines: [StyledText] = []
        for (number, line) in wrapped(finding.fact).enumerated() {
            lines.append((number == 0 ? level : margin) + "\(line)")
        }
        if let cost = finding.cost {
            for line in wrapped("Costs: " + cost) { lines.append(margin + "\(dim: line)") }
        }
        if let advice = finding.advice {
            for line in wrapped("To fix: " + advice) { lines.append(margin + "\(line)") }
        }
        return lines
    }

    /// Breaks a text at spaces. Words that are too long, such as a path to be copied, are not
    /// broken.
    private static func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in Output.tidied(text).split(whereSeparator: \.isWhitespace) {
            if !line.isEmpty, indent + line.count + 1 + word.count > columns {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }
}

extension JSONObject {
    /// The diagnosis as JSON. The names of checks and levels are stable.
    fileprivate init(_ diagnosis: Diagnosis) {
        self = [
            "version": Installation.version, "problems": diagnosis.count(.problem), "notes": diagnosis.count(.note),
            "findings": diagnosis.findings,
        ]
    }
}
