// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import IdleScheduling

/// The argument that identifies a job.
struct JobChoice: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            The bundle identifier of an extension, for its pending reindex; files:BUNDLE, for its pending changed \
            files; encrypted:BUNDLE, for its encrypted items; or purge-expired, optimize, vacuum or embed.
            """,
            valueName: "job"),
        completion: BundleNames.completion)
    var name: String

    func validate() throws { _ = try JobChoice.key(name) }

    var key: ScheduledJob.Key {
        get throws { try JobChoice.key(name) }
    }

    static func key(_ name: String) throws -> ScheduledJob.Key {
        guard let key = ScheduledJob.Key(name: name) else {
            throw ValidationError(
                "“\(name)” is not an extension or a task. “searchlight schedule” lists pending jobs.")
        }
        return key
    }
}
