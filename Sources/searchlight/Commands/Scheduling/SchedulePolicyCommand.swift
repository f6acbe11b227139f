// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import IdleScheduling
import SearchlightEngine

struct SchedulePolicyCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show the constants of scheduling, or check a file that changes them.",
        discussion: """
            The file is $SEARCHLIGHT_SCHEDULING, else searchlight/scheduling.json in $XDG_CONFIG_HOME (~/.config). A service \
            reads it at its start. docs/SCHEDULING.md explains each key. The output of --json is a valid file.
            """)

    @Flag(help: "Print JSON.")
    var json = false
    var printsJSON: Bool { json }
    @Option(help: ArgumentHelp("Check this file instead.", valueName: "file"), completion: .file(extensions: ["json"]))
    var check: String?

    func perform() async throws {
        let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        let file = check.map { PolicyFile(path: $0) } ?? PolicyFile(environment: environment)
        let policy: SchedulingPolicy
        do throws(PolicyFile.Failure) { policy = try file.policy() } catch {
            throw CommandFailure(message: error.description, status: .usage)
        }
        if json { return try Output.printJSON(JSONObject(policy)) }
        guard check == nil else {
            return try Output.line("\(file.path) is a valid policy. To apply a changed policy, restart the service.")
        }
        try show(policy)
    }

    private func show(_ policy: SchedulingPolicy) throws {
        let standard = SchedulingPolicy()
        let gates = Gate.allCases.filter(\.isSwitchable)
        let names = PolicySetting.all.map(\.key) + gates.map(\.code)
        let width = names.map(\.count).max() ?? 0
        func line(_ name: String, _ value: String, before: String) throws {
            let name = name.padding(toLength: width, withPad: " ", startingAt: 0)
            try Output.line("\(name)  \(value)\(dim: value == before ? "" : "  (changed from \(before))")")
        }
        for setting in PolicySetting.all {
            func text(_ value: Double) -> String {
                ["share", ""].contains(setting.unit) ? value.formatted() : "\(value.formatted()) \(setting.unit)"
            }
            try line(setting.key, text(setting.value(in: policy)), before: text(setting.standard))
        }
        try Output.line("")
        try Output.line("Gates:")
        for gate in gates {
            try line(gate.code, policy.rule(of: gate).words, before: standard.rule(of: gate).words)
        }
    }
}

/// The rule for a gate, as in the policy file.
private enum GateRule: Encodable {
    case off
    case passed(from: Double)
    case neverPassed
    /// The gate applies, and no job can pass it.
    case on

    var words: String {
        switch self {
        case .off: "off"
        case .passed(let score): "bypassed at low rate from score \(score.formatted())"
        case .neverPassed, .on: "never bypassed"
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .off: try container.encode(false)
        case .passed(let score): try container.encode(score)
        case .neverPassed: try container.encodeNil()
        case .on: try container.encode(true)
        }
    }
}

extension SchedulingPolicy {
    fileprivate func rule(of gate: Gate) -> GateRule {
        if switchedOff.contains(gate) { return .off }
        guard gate.isRelaxable else { return .on }
        return relaxations[gate].map { .passed(from: $0) } ?? .neverPassed
    }
}

extension JSONObject {
    /// A policy as JSON, in the format of the policy file.
    fileprivate init(_ policy: SchedulingPolicy) {
        let gates = Gate.allCases.filter(\.isSwitchable).map { ($0.code, policy.rule(of: $0)) }
        let object: JSONObject = ["gates": Dictionary(gates, uniquingKeysWith: { one, _ in one })]
        self = object.adding(PolicySetting.all.map { ($0.key, $0.value(in: policy)) })
    }
}
