// SPDX-License-Identifier: Apache-2.0

/// One thing that was looked at, and what is the case.
package struct Finding: Hashable, Sendable, Encodable {
    /// What it is about, in the order in which people read it.
    package enum Area: String, Hashable, Sendable, Encodable, CaseIterable {
        /// What confines extensions and lets work give way, by the kernel.
        case kernel
        /// What the machine tells of itself, by which work in the background is timed.
        case machine
        /// Programs and libraries that are called.
        case programs
        /// The index.
        case store
        /// Who answers apps.
        case service
        /// What fills the index.
        case extensions
    }
    /// What it means.
    package enum Level: String, Hashable, Sendable, Encodable {
        /// It is as it should be.
        case ok
        /// Something is missing, and all but that works.
        case note
        /// Something does not work, or is not safe.
        case problem
    }

    /// What was looked at, by a name that stays.
    package var name: String
    /// What it is about.
    package var area: Area
    /// What it means.
    package var level: Level
    /// What is the case, in one sentence.
    package var fact: String
    /// What that costs, in one sentence; `nil` where nothing is missing.
    package var cost: String?
    /// What to do about it; `nil` likewise, or if nothing can be done.
    package var advice: String?

    /// Creates what is as it should be.
    static func ok(_ area: Area, _ name: String, _ fact: String) -> Finding {
        Finding(name: name, area: area, level: .ok, fact: fact, cost: nil, advice: nil)
    }

    /// Creates what is missing and what that costs.
    static func note(
        _ area: Area, _ name: String, _ fact: String, costs cost: String, advice: String? = nil
    ) -> Finding {
        Finding(name: name, area: area, level: .note, fact: fact, cost: cost, advice: advice)
    }

    /// Creates what does not work and what that costs.
    static func problem(
        _ area: Area, _ name: String, _ fact: String, costs cost: String, advice: String? = nil
    ) -> Finding {
        Finding(name: name, area: area, level: .problem, fact: fact, cost: cost, advice: advice)
    }
}
