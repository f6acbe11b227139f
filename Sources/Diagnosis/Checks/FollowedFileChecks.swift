// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

/// Checks that changes to followed files are noticed.
enum FollowedFileChecks {
    /// The maximum number of paths that are named.
    private static let shown = 5

    static func findings(_ followed: FollowedStatus) -> [Finding] {
        guard !followed.places.isEmpty else {
            return [.ok(.service, "followed", "No extension has watched files.")]
        }
        var findings: [Finding] = []
        if followed.unwatchedFolders > 0 {
            let limit =
                followed.watchLimit.map {
                    " The kernel allows \($0) watches, and half are reserved for other programs."
                }
                ?? ""
            findings.append(
                .problem(
                    .service, "followed.watches",
                    "\(followed.unwatchedFolders) folders cannot be watched.\(limit)",
                    costs: "Changes in them are found within minutes, not at once.",
                    advice: """
                        Raise the limit: echo fs.inotify.max_user_watches=1048576 | sudo tee /etc/sysctl.d/60-watches.conf && \
                        sudo sysctl --system
                        """))
        }
        let shared = followed.places.filter { $0.state == .polled }
        if followed.unwatchedFolders == 0, !shared.isEmpty {
            findings.append(
                .note(
                    .service, "followed.polled", "The kernel does not report every change in \(names(shared)).",
                    costs: "Changes from other machines are found within minutes.",
                    advice: "None is needed. To check for changes now: searchlight update"))
        }
        let away = followed.places.filter { $0.state == .unavailable }
        if !away.isEmpty {
            findings.append(
                .note(
                    .service, "followed.away", "Missing or not readable: \(names(away)).",
                    costs: "Their items are not updated.",
                    advice:
                        "Mount the disk, or make the folder readable. To list the folders: searchlight status"
                ))
        }
        for place in followed.places.filter({ $0.state == .failed }).prefix(shown) {
            findings.append(
                .problem(
                    .service, "followed.failed", "\(place.path) is not watched: \(place.reason ?? "it failed").",
                    costs: "Its changes are not noticed.",
                    advice: "Restart the service (searchlight service stop), and check again."))
        }
        if findings.isEmpty {
            let extensions = Set(followed.places.map(\.bundle)).count
            findings.append(
                .ok(
                    .service, "followed",
                    """
                    Files are watched, for \(counted(extensions, "extension")) in \
                    \(counted(followed.places.count, "place")), with \(followed.watches) of the kernel's watches.
                    """))
        }
        return findings
    }

    private static func counted(_ count: Int, _ thing: String) -> String {
        "\(count) \(thing)\(count == 1 ? "" : "s")"
    }

    private static func names(_ places: [FollowedStatus.Place]) -> String {
        let paths = Array(Set(places.map(\.path))).sorted()
        let rest = paths.count > shown ? " and \(paths.count - shown) others" : ""
        return paths.prefix(shown).joined(separator: ", ") + rest
    }
}
