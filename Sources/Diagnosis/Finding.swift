// SPDX-License-Identifier: Apache-2.0

/// The result of one check.
package struct Finding: Hashable, Sendable, Encodable {
    /// The areas of checks, in the order of the report.
    package enum Area: String, Hashable, Sendable, Encodable, CaseIterable {
        /// The kernel's support for sandboxes and idle priorities.
        case kernel
        /// The sensors that control background work.
        case machine
        /// The required programs and libraries.
        case programs
        /// The index.
        case store
        /// The service that answers apps.
        case service
        /// The extensions that fill the index.
        case extensions
    }
    /// The severity of a finding.
    package enum Level: String, Hashable, Sendable, Encodable {
        /// Nothing is wrong.
        case ok
        /// Something is missing; everything else works.
        case note
        /// Something does not work or is insecure.
        case problem
    }

    /// The stable name of the check.
    package var name: String
    /// The area of the check.
    package var area: Area
    /// The severity of the finding.
    package var level: Level
    /// The fact, in one sentence.
    package var fact: String
    /// The consequence, in one sentence; `nil` if nothing is missing.
    package var cost: String?
    /// The advice; `nil` if nothing is missing or no remedy exists.
    package var advice: String?

    /// Creates a finding without a problem.
    static func ok(_ area: Area, _ name: String, _ fact: String) -> Finding {
        Finding(name: name, area: area, level: .ok, fact: fact, cost: nil, advice: nil)
    }

    /// Creates a finding about something missing, with its consequence.
    static func note(
        _ area: Area, _ name: String, _ fact: String, costs cost: String, advice: String? = nil
    ) -> Finding {
        Finding(name: name, area: area, level: .note, fact: fact, cost: cost, advice: advice)
    }

    /// Creates a finding about a problem, with its consequence.
    static func problem(
        _ area: Area, _ name: String, _ fact: String, costs cost: String, advice: String? = nil
    ) -> Finding {
        Finding(name: name, area: area, level: .problem, fact: fact, cost: cost, advice: advice)
    }
}
