// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The messages that a user reads when the disk is full. docs/ARCHITECTURE.md, "Errors", lists the
/// four forms of such an error.
@Suite("A full disk, as the user reads it", .timeLimit(.minutes(5)))
struct DiskFullMessageTests {
    static let mayMount =
        (try? CFixture.run(
            "/usr/bin/env", ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
        ).status) == 0

    @Test(
        "A command says what happened and what to do, with status 8 and without an error type", .enabled(if: mayMount),
        arguments: ["donate --bundle com.example.notebook - < lines", "reindex"])
    func message(_ call: String) throws {
        let command = try Command.indexed()
        let (status, output) = try command.shell(
            """
            mkdir disk; for number in $(seq 400); do
            printf '{"uniqueIdentifier": "%d", "attributes": {"textContent": "' $number
            head -c 6000 /dev/urandom | base64 -w0 | tr '+/' '  '; printf '"}}\\n'; done > lines
            unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=1800k none disk && \
            cp -r "$SEARCHLIGHT_STORE" disk/store && export SEARCHLIGHT_STORE="$PWD/disk/store" && \
            if [ "$0" = reindex ]; then dd if=/dev/zero of=disk/ballast bs=1k count=4000 2> /dev/null; fi; \
            eval "\\"\\$SEARCHLIGHT\\" $0" 2>&1; echo "status $?"' '\(call)'
            """)
        #expect(status == 0)
        #expect(output.hasSuffix("status 8\n"), "\(output)")
        #expect(output.contains("is full. Make room."), "\(output)")
        Self.expectNoDump(output)
    }

    @Test(
        "A reindex in the middle of which the disk becomes full reports the disk, not the extension",
        .enabled(if: mayMount))
    func midway() throws {
        let command = Command(harness: try Harness())
        let notes = command.harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        _ = try command.harness.installJournal(notes: notes)
        let (status, output) = try command.shell(
            """
            for number in $(seq 300); do
            { echo "# $number"; head -c 6000 /dev/urandom | base64 -w0 | tr '+/' '  '; } > "notes/$number.md"; done
            mkdir disk
            unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=1800k none disk && \
            export SEARCHLIGHT_STORE="$PWD/disk/store" && "$SEARCHLIGHT" reindex 2>&1; echo "status $?"'
            """)
        #expect(status == 0)
        #expect(output.hasSuffix("status 8\n"), "\(output)")
        #expect(output.contains("searchlight: Storing items failed: the device that holds"), "\(output)")
        Self.expectNoDump(output)
    }

    private static func expectNoDump(_ output: String) {
        let dumps = [
            "SQLITE", "DatabaseError", "SearchIndexError", "CSIndexError", "Error Domain", "BusError", "Optional(",
        ]
        for dump in dumps { #expect(!output.contains(dump), "\(output)") }
    }
}
