// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import IdleScheduling

/// The argument that names a job.
struct JobChoice: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            The bundle identifier of an extension, for the reindex it owes; files:BUNDLE, for the changed files it is to be told \
            of; or purge-expired, optimize or vacuum.
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
                "“\(name)” names no extension and no task. “searchlight schedule” lists what is owed.")
        }
        return key
    }
}
