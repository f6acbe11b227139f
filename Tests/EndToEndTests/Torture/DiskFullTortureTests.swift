// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A full file system and a read-only file system, both created for the test in a separate
/// namespace. `DiskFullTests` tests the same with failing layers, which needs no privileges.
@Suite("Torture, a full disk and a read-only store")
struct DiskFullTortureTests {
    private let command: Command

    init() throws { command = Command(harness: try Harness()) }

    /// Runs shell lines in a namespace where file systems can be mounted. Returns `nil`, and prints
    /// a line, if that is forbidden.
    private func mounting(_ script: String, _ arguments: String...) throws -> (status: Int32, output: String)? {
        let unshare = ["-rm", "/bin/sh", "-c"]
        let probe = try CFixture.run("/usr/bin/env", ["unshare"] + unshare + ["mount -t tmpfs none /mnt"])
        guard probe.status == 0 else {
            print("Nothing can be mounted here (\(probe.output)); SearchIndexTests.DiskFullTests stands for this.")
            return nil
        }
        return try CFixture.run(
            "/usr/bin/env", ["unshare"] + unshare + [script, command.harness.folder] + arguments,
            environment: try command.environment)
    }

    @Test("A process fills its disk, is rejected, still reads, and continues when there is room again")
    func full() throws {
        let identifier = try command.harness.installFixture("notebook")
        let seed = TortureSettings.seed
        let result = try mounting(
            #"mkdir "$0/disk" && mount -t tmpfs -o size=64m none "$0/disk" && exec "$1" disk-full "$0/disk" "$2" "$3" "$4""#,
            try BuiltProducts.program("TortureDonor"), "\(seed)", command.harness.extensions, identifier)
        guard let (status, output) = result else { return }
        #expect(status == 0, "seed \(seed): \(output)")
        print(output)
    }

    private static let donated = #"{"uniqueIdentifier": "one", "attributes": {"title": "hello", "pageCount": 1}}"#

    @Test("A new store on a full disk, and each command on an old one, report the missing room or work")
    func commands() throws {
        let result = try mounting(
            """
            set -e; cd "$0"; mkdir disk; mount -t tmpfs -o size=1500k none disk; export SEARCHLIGHT_STORE="$0/disk/store"
            echo '\(Self.donated)' | "$SEARCHLIGHT" donate --bundle b -
            dd if=/dev/zero of=disk/ballast bs=1k count=4000 2>/dev/null || true
            set +e
            for command in "search hello" "query pageCount>0" "list" "show one"; do
                "$SEARCHLIGHT" $command > output 2>&1 || echo "not read: $command: $(cat output)"
            done
            for store in "$0/disk/store" "$0/disk/new"; do
                echo '\(Self.donated)' | "$SEARCHLIGHT" donate --store "$store" --bundle b - > output 2>&1
                echo "donate: $?: $(tr '\\n' ' ' < output)"
            done
            rm disk/ballast
            for store in "$0/disk/store" "$0/disk/new"; do
                echo '\(Self.donated)' | "$SEARCHLIGHT" donate --store "$store" --bundle b -
            done
            """)
        guard let (status, output) = result else { return }
        #expect(status == 0, "\(output)")
        #expect(!output.contains("not read:"), "\(output)")
        let refusals = output.split(separator: "\n").filter { $0.hasPrefix("donate: ") }
        #expect(refusals.count == 2, "\(output)")
        for refusal in refusals {
            #expect(refusal.contains("donate: 8: ") && refusal.contains("is full. Make room."), "\(refusal)")
        }
        #expect(output.components(separatedBy: "1 item accepted.").count == 4, "\(output)")
    }

    @Test(
        "A store that was created without room for its tables is not damaged, and the next command completes it",
        arguments: [120, 200, 260, 300, 340, 400])
    func begunWithoutRoom(kibibytes: Int) throws {
        let result = try mounting(
            """
            cd "$0"; mkdir disk; mount -t tmpfs -o size=\(kibibytes)k none disk || exit 1
            export SEARCHLIGHT_STORE="$0/disk/store"
            echo '\(Self.donated)' | "$SEARCHLIGHT" donate --bundle b - > output 2>&1
            echo "donate: $?: $(tr '\\n' ' ' < output)"
            "$SEARCHLIGHT" search hello > output 2>&1; echo "without: $?: $(tr '\\n' ' ' < output)"
            mount -o remount,size=50m disk || exit 1
            "$SEARCHLIGHT" search hello > output 2>&1; echo "with: $?: $(tr '\\n' ' ' < output)"
            """)
        guard let (_, output) = result else { return }
        #expect(!output.contains("damaged") && !output.contains("no such table"), "\(output)")
        let lines = output.split(separator: "\n").map(String.init)
        let read = try #require(lines.first { $0.hasPrefix("with: ") }, "\(output)")
        #expect(read.hasPrefix("with: 0: "), "\(output)")
    }

    /// The operations on a store that cannot be written.
    private static let readAndWrite = """
        for command in "search hello" "query pageCount>0" "list" "show one"; do
            $AS "$SEARCHLIGHT" $command > "$OUT" 2>&1; echo "read: $?: $(cat "$OUT")"
        done
        echo '\(donated)' | $AS "$SEARCHLIGHT" donate --bundle b - > "$OUT" 2>&1; echo "write: $?: $(cat "$OUT")"
        for command in "delete --bundle b --all" "reindex"; do
            $AS "$SEARCHLIGHT" $command > "$OUT" 2>&1; echo "write: $?: $(cat "$OUT")"
        done
        """

    private func check(_ output: String, readsWork: Bool) {
        let lines = output.split(separator: "\n")
        let reads = lines.filter { $0.hasPrefix("read: ") }
        #expect(reads.count == 4, "\(output)")
        for line in reads {
            let isClear = line.hasPrefix("read: 8: ") && line.contains("cannot be written. Check its permissions")
            #expect(readsWork ? line.hasPrefix("read: 0: ") : isClear, "\(line)")
        }
        let writes = lines.filter { $0.hasPrefix("write: ") }
        #expect(writes.count == 3, "\(output)")
        for line in writes {
            let reason = line.lowercased()
            #expect(
                line.hasPrefix("write: 8: ")
                    && ["cannot be written", "permission denied", "read-only file system"].contains {
                        reason.contains($0)
                    }, "\(line)")
        }
        #expect(output.contains("unchanged"), "\(output)")
    }

    @Test("On a read-only file system a store is readable; changes are rejected, and nothing changes")
    func readOnlyFileSystem() throws {
        let result = try mounting(
            """
            cd "$0"; OUT="$0/output"; AS=
            echo '\(Self.donated)' | "$SEARCHLIGHT" donate --bundle b - > /dev/null || exit 1
            find store -type f | sort | xargs cksum > before
            mount --bind store store && mount -o remount,bind,ro store || exit 1
            \(Self.readAndWrite)
            find store -type f | sort | xargs cksum | cmp - before && echo unchanged
            """)
        guard let (status, output) = result else { return }
        #expect(status == 0, "\(output)")
        check(output, readsWork: true)
    }

    @Test("Without write permission a store is readable; changes are rejected, and nothing changes")
    func noPermission() throws {
        // Root may write everywhere, so the commands run as another user.
        let become = getuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : ""
        guard try command.shell("\(become) \"$SEARCHLIGHT\" --version").status == 0 else {
            print("Nobody but root can run this build; the read-only file system stands for missing permission.")
            return
        }
        let (status, output) = try command.shell(
            """
            OUT="$0/output"; AS="\(become)"
            echo '\(Self.donated)' | "$SEARCHLIGHT" donate --bundle b - > /dev/null || exit 1
            chmod a+rx . && chmod -R a+rX,a-w store && find store -type f | sort | xargs cksum > before
            \(Self.readAndWrite)
            find store -type f | sort | xargs cksum | cmp - before && echo unchanged; chmod -R u+w store
            """)
        #expect(status == 0, "\(output)")
        check(output, readsWork: true)
    }
}
