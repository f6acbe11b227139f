// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import ItemRecord
import ServiceMessages
import SystemSupport

/// Recordings that the tests share.
enum Samples {
    static func function(_ interface: String, _ name: String) -> BoundaryFunction {
        let functions = BoundaryInterface.all.first { $0.identifier == interface }?.functions ?? []
        return functions.first { $0.name == name } ?? BoundaryInterface.getInterface
    }

    static let setString = function("searchlight.items/1", "set_string")
    static let deleteItems = function("searchlight.index/1", "delete_items")
    static let finish = function("searchlight.request/1", "finish")

    static let session = RecordedSession(
        events: [
            .hostCall(number: 1, .reindexAll, cause: 0, [.integer(1)]),
            .extensionCall(
                number: 1, within: 1, setString,
                [.object(.item, 3), BoundaryValue("title"), BoundaryValue("Dinner with Anna Ohlsson")]),
            .extensionReturn(number: 1, .integer(0)),
            .extensionCall(
                number: 2, within: 1, deleteItems,
                [.object(nil, 0), .null, .list([BoundaryValue("notes.Anna"), .text([0xFF])]), .present]),
            .extensionReturn(number: 2, .integer(0)),
            .hostReturn(number: 1, .integer(1)),
            .hostCall(number: 2, .completion, cause: 2, [.integer(0), BoundaryValue("done for Anna")]),
            .extensionCall(
                number: 3, within: 2, finish,
                [.object(nil, 0), .integer(1), .integer(-7), .unread(count: -1, isNull: true)]),
            .extensionReturn(number: 3, .null),
            .hostReturn(
                number: 2,
                .list([.unknownPointer, .double(bits: 1), .bytes([1, 2]), .unread(count: 9, isNull: false)])),
            .cancelled(request: .max),
        ], ending: .finished)

    static let recording = CallRecording(
        bundle: "com.example.notes", principalClass: "Notes.Handler",
        sessions: [
            session, RecordedSession(events: [.truncated], ending: .signalled(11)),
            RecordedSession(events: [], ending: .exited(status: -3)), RecordedSession(events: [], ending: .endedByHost),
        ])

    /// Scrubs a recording. The samples have no attributes of an app, except in names with “_”.
    static func scrubbed(_ recording: CallRecording) -> CallRecording {
        RecordingScrubber.scrubbed(recording) { !$0.contains("_") && $0 != "acme salary" }
    }

    static let requests: [WorkerRequest] = [
        .reindexAll, .reindexItems(["a", "ä"]),
        .reindexEncrypted(EncryptedItems(index: "i", protection: .complete, identifiers: ["a", "ä"])),
        .reindexEncrypted(EncryptedItems(index: "i", protection: .completeUnlessOpen, identifiers: [])),
        .reindexPage(ReindexPage(cursor: nil, items: 3, milliseconds: 4, memoryLimit: .max)),
        .reindexPage(ReindexPage(cursor: [], items: 3, milliseconds: 4, memoryLimit: 5)),
        .updateFiles([.changed(path: "/a"), .moved(from: "/a", to: "/b"), .removed(path: "/c")]),
        .provideData(item: "a", type: "public.text"), .provideFile(item: "a", type: "public.text", inPlace: true),
        .preview(item: "a", query: nil, contentPath: "/a"), .preview(item: "a", query: "q", contentPath: nil),
        .didThrottle(ThrottleNotice(reason: .battery, itemsPerSecond: 0.5)), .didFinishThrottle,
    ]
}
