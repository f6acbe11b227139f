// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import SearchlightEngine

/// The state of searching by meaning, for display.
struct SemanticReport {
    private let status: SemanticStatus

    init(_ status: SemanticStatus) { self.status = status }

    private var progress: String {
        let done = counted(status.embedded, "item") + " embedded"
        return status.pending == 0 ? done : "\(done), \(status.pending) pending"
    }

    /// The state on one line.
    var line: String { Output.tidied("\(status.model.name), \(progress)") }

    /// The state, with all facts about the model.
    var lines: [String] {
        let model = status.model
        return [
            "Model: \(model.name), \(model.width) components, \(sized(model.bytes))", "Source: \(model.source)",
            "License: \(model.license ?? "not declared by its files; see its publisher")",
            "Installed: \(moment(model.installed))", "Progress: \(progress)",
        ]
    }

    var json: JSONObject {
        let model = status.model
        return [
            "model": model.name, "identity": model.identity, "source": model.source, "license": model.license,
            "width": model.width, "bytes": model.bytes, "installed": moment(model.installed),
            "embedded": status.embedded, "pending": status.pending,
        ]
    }
}
