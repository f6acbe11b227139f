// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

/// Checks that changes of the followed files are noticed.
enum FollowedFileChecks {
    /// The maximum number of named paths.
    private static let shown = 5

    static func findings(_ followed: FollowedStatus) -> [Finding] {
        guard !followed.places.isEmpty else {
            return [.ok(.service, "followed", "No extension has files followed.")]
        }
        var findings: [Finding] = []
        if followed.unwatchedFolders > 0 {
            let limit =
                followed.watchLimit.map {
                    " The kernel allows you \($0) watches, half of which are left to other programs."
                }
                ?? ""
            findings.append(
                .problem(
                    .service, "followed.watches",
                    "\(followed.unwatchedFolders) folders of followed files cannot be watched.\(limit)",
                    costs: "What changes in them is found within minutes, not at once.",
                    advice: """
                        Allow more: echo fs.inotify.max_user_watches=1048576 | sudo tee /etc/sysctl.d/60-watches.conf && \
                        sudo sysctl --system
                        """))
        }
        let shared = followed.places.filter { $0.state == .polled }
        if followed.unwatchedFolders == 0, !shared.isEmpty {
            findings.append(
                .note(
                    .service, "followed.polled", "Not every change is told in \(names(shared)).",
                    costs: "Changes by other machines are found within minutes.",
                    advice: "Nothing is to be done; “searchlight update” looks now."))
        }
        let away = followed.places.filter { $0.state == .unavailable }
        if !away.isEmpty {
            findings.append(
                .note(
                    .service, "followed.away", "Not there, or not readable: \(names(away)).",
                    costs: "Their items stay as they were.",
                    advice:
                        "Mount the disk, or give yourself the right to read the folder; “searchlight status” names each."
                ))
        }
        for place in followed.places.filter({ $0.state == .failed }).prefix(shown) {
            findings.append(
                .problem(
                    .service, "followed.failed", "\(place.path) is not followed: \(place.reason ?? "it failed").",
                    costs: "Its changes are not noticed.", advice: "searchlight service stop, and look again."))
        }
        if findings.isEmpty {
            let extensions = Set(followed.places.map(\.bundle)).count
            findings.append(
                .ok(
                    .service, "followed",
                    """
                    Changes of files are noticed, for \(counted(extensions, "extension")) in \
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
