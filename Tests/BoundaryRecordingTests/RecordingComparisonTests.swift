// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import ItemRecord
import Testing

@Suite("A comparison of recordings")
struct RecordingComparisonTests {
    private func changed(_ position: Int, _ event: BoundaryEvent?) -> CallRecording {
        var recording = Samples.recording
        if let event {
            recording.sessions[0].events[position] = event
        } else {
            recording.sessions[0].events.remove(at: position)
        }
        return recording
    }

    @Test("finds nothing in the same calls, even if threads ran in a different order")
    func same() {
        #expect(RecordingComparison(Samples.recording, Samples.recording).differences.isEmpty)
        var other = Samples.recording
        // The request returns after its completion.
        other.sessions[0].events.swapAt(5, 6)
        let comparison = RecordingComparison(Samples.recording, other)
        #expect(comparison.differences.isEmpty && comparison.calls == 5)
    }

    @Test("names the first call of a thread that differs, with both values")
    func arguments() throws {
        let other = changed(
            1,
            .extensionCall(
                number: 1, within: 1, Samples.setString,
                [.object(.item, 3), BoundaryValue("title"), BoundaryValue("Dinner")]))
        let difference = try #require(RecordingComparison(Samples.recording, other).differences.first)
        #expect(difference.session == 1)
        #expect(difference.call == "request 1, reindex_all, call 1 (searchlight.items/1 set_string)")
        #expect(difference.recorded == #"set_string(item 3, "title", "Dinner with Anna Ohlsson")"#)
        #expect(difference.replayed == #"set_string(item 3, "title", "Dinner")"#)
    }

    @Test("finds a different result, a missing call, a further call and a different end")
    func kinds() {
        var further = Samples.recording
        further.sessions[0].events.insert(.extensionCall(number: 4, within: 0, Samples.setString, []), at: 2)
        for (other, words) in [
            (changed(2, .extensionReturn(number: 1, .integer(5))), "set_string) returns: recorded 0, replayed 5"),
            (changed(2, nil), "recorded 0, replayed never"),
            (changed(7, nil), "replayed no such call"),
            (further, "threads of the extension"),
        ] {
            let differences = RecordingComparison(Samples.recording, other).differences
            #expect(differences.count == 1 && differences.first?.description.contains(words) == true, "\(differences)")
        }
        var other = Samples.recording
        other.sessions[0].ending = .exited(status: 0)
        #expect(RecordingComparison(Samples.recording, other).differences.map(\.call).contains("the end"))
        other.sessions.removeLast()
        #expect(RecordingComparison(Samples.recording, other).differences.last?.replayed == "nothing")
        #expect(RecordingComparison(other, Samples.recording).differences.last?.replayed == "a further worker")
    }

    @Test("requires nothing after the end of a truncated recording, and everything before it")
    func truncated() {
        let whole = Samples.recording.sessions[0].events
        // The end of the request's lane, within the lane, and before the completion.
        for count in [1, 2, 3, 4, 5, 6] {
            var (one, other) = (Samples.recording, Samples.recording)
            one.sessions[0].events = whole.prefix(count) + [.truncated]
            other.sessions[0].ending = .exited(status: 0)
            #expect(!one.isComplete)
            let comparison = RecordingComparison(one, other)
            #expect(comparison.differences.isEmpty, "\(count): \(comparison.differences)")
            #expect(RecordingComparison(other, one).differences.isEmpty)
            other.sessions[0].events.removeSubrange((count - 1)...)
            guard count == 2 || count == 4 else { continue }
            #expect(RecordingComparison(one, other).differences.map(\.replayed) == ["no such call"])
        }
        // A call of the host that returned makes no more calls.
        var (one, other) = (Samples.recording, Samples.recording)
        one.sessions[0].events = whole.prefix(6) + [.truncated]
        other.sessions[0].events.insert(.extensionCall(number: 9, within: 1, Samples.setString, []), at: 5)
        #expect(RecordingComparison(one, other).differences.map(\.recorded) == ["no such call"])
    }

    @Test("requires no call of a request that had not returned when another thread crashed")
    func interrupted() throws {
        let events = Samples.recording.sessions[0].events
        let isReturn = { (event: BoundaryEvent) in if case .hostReturn = event { true } else { false } }
        func recording(_ events: [BoundaryEvent]) -> CallRecording {
            var recording = Samples.recording
            recording.sessions[0] = RecordedSession(events: events, ending: .signalled(11))
            return recording
        }
        let call = BoundaryEvent.extensionCall(
            number: 9, within: 1, Samples.setString, [.object(.item, 3), BoundaryValue("a"), BoundaryValue("b")])
        // A completion crashes before the request returns.
        let (one, further) = (events.filter { !isReturn($0) }, events.filter { !isReturn($0) } + [call])
        for (left, right) in [(one, further), (further, one)] {
            let comparison = RecordingComparison(recording(left), recording(right))
            #expect(comparison.differences.isEmpty, "\(comparison.differences)")
        }
        // A call that both have must be the same.
        var other = further
        other[1] = call
        #expect(!RecordingComparison(recording(one), recording(other)).differences.isEmpty)
        // Without another thread at work, the request itself crashed.
        let (alone, longer) = (Array(events.prefix(5)), Array(events.prefix(5)) + [call])
        #expect(
            RecordingComparison(recording(alone), recording(longer)).differences.map(\.recorded) == ["no such call"])
        #expect(
            RecordingComparison(recording(longer), recording(alone)).differences.map(\.replayed) == ["no such call"])
        // A request that returned has made all of its calls.
        let returned = events.filter { if case .hostReturn(2, _) = $0 { false } else { true } }
        #expect(
            RecordingComparison(recording(returned), recording(returned + [call])).differences.map(\.recorded)
                == ["no such call"])
    }

    @Test("requires no call after the answer for which the host ended the worker, but each before it")
    func refusal() {
        var (one, other) = (Samples.recording, Samples.recording)
        for path in [\CallRecording.sessions[0].ending] {
            (one[keyPath: path], other[keyPath: path]) = (.endedByHost, .endedByHost)
        }
        other.sessions[0].events.removeSubrange(8...)
        #expect(RecordingComparison(one, other).differences.isEmpty)
        #expect(RecordingComparison(other, one).differences.isEmpty)
        other.sessions[0].events.removeSubrange(3...)
        #expect(!RecordingComparison(one, other).differences.isEmpty)
        #expect(!RecordingComparison(other, one).differences.isEmpty)
    }
}

@Suite("A scrubbed recording")
struct RecordingScrubberTests {
    @Test("has none of the words, and the same lengths and structure")
    func words() throws {
        let scrubbed = Samples.scrubbed(Samples.recording)
        let text = String(decoding: scrubbed.encoded, as: UTF8.self)
        for word in ["Dinner", "Anna", "Ohlsson", "with", "done", "notes.Anna"] {
            #expect(!text.contains(word), "\(word) is left")
        }
        #expect(text.contains("title"), "names of attributes stay")
        #expect(scrubbed.isScrubbed && scrubbed.encoded.count == Samples.recording.encoded.count)
        #expect(try CallRecording(decoding: scrubbed.encoded) == scrubbed)
        #expect(Samples.scrubbed(scrubbed) == scrubbed)
        #expect(scrubbed.callCount == Samples.recording.callCount)
    }

    @Test("has no names of the app's own attributes, and the same placeholder for a name everywhere")
    func attributes() {
        let traits = Samples.function("searchlight.custom-keys/1", "set_traits")
        let names = [
            ("title", Samples.setString), ("com_acme_salary", Samples.setString), ("com_acme_salary", traits),
            ("kMD_acme_salary", traits), ("gehälter_acme", traits), ("acme salary", traits), ("", traits),
        ]
        var recording = Samples.recording
        recording.sessions = [
            RecordedSession(
                events: names.enumerated().map { place, one in
                    .extensionCall(
                        number: UInt32(place + 1), within: 0, one.1,
                        [.object(.item, 3), BoundaryValue(one.0), one.1 == traits ? .integer(3) : BoundaryValue("x")])
                }, ending: .finished)
        ]
        let found = Samples.scrubbed(recording).sessions[0].events.compactMap { event -> String? in
            if case .extensionCall(_, _, _, let values) = event { values[1].string } else { nil }
        }
        #expect(found.map(\.utf8.count) == names.map(\.0.utf8.count) && found[0] == "title" && found[1] == found[2])
        #expect(found[1] != "com_acme_salary", "\(found)")
        #expect(!found.dropFirst().contains { $0.contains("acme") || $0.contains("salary") || $0.contains("geh") })
        // A name that the host refuses is replaced by one that it refuses too.
        #expect(found.map(AttributeTraits.isKeyName) == names.map { AttributeTraits.isKeyName($0.0) }, "\(found)")
    }

    @Test("gives a word the same placeholder everywhere, and other words others")
    func identity() throws {
        let scrubbed = Samples.scrubbed(Samples.recording)
        func texts(_ event: BoundaryEvent) -> [String] {
            switch event {
            case .hostCall(_, _, _, let values), .extensionCall(_, _, _, let values):
                values.flatMap { [$0] + ($0.list ?? []) }.compactMap(\.string)
            default: []
            }
        }
        let (before, after) = (
            Samples.session.events.flatMap(texts), try #require(scrubbed.sessions.first).events.flatMap(texts)
        )
        #expect(before.map(\.utf8.count) == after.map(\.utf8.count) || before.contains("\u{FFFD}"))
        let separators = { (text: String) in text.filter { " .".contains($0) } }
        #expect(before.map(separators) == after.map(separators))
        let titles = try #require(after.first { $0.contains(" ") }).split(separator: " ").map(String.init)
        #expect(Set(titles).count == 4, "\(titles)")
        #expect(after.contains { $0.hasSuffix("." + titles[2]) }, "Anna is the same word in the identifier: \(after)")
    }

    @Test("has as many placeholders as words of one and two letters")
    func shortWords() {
        let letters = (0...127).map { String(UnicodeScalar(UInt8($0))) }.filter {
            $0.allSatisfy { $0.isLetter || $0.isNumber }
        }
        let words = letters + letters.flatMap { one in letters.map { one + $0 } }
        var recording = Samples.recording
        recording.sessions = [
            RecordedSession(
                events: [.hostCall(number: 1, .reindexItems, cause: 0, [.list(words.map { BoundaryValue($0) })])],
                ending: .finished)
        ]
        guard case .hostCall(_, _, _, let values)? = Samples.scrubbed(recording).sessions[0].events.first
        else { return #expect(Bool(false), "the event has changed") }
        #expect(letters.count == 62 && Set(values[0].list?.compactMap(\.string) ?? []).count == words.count)
    }

    @Test("has encoded items without their words, which can still be decoded")
    func records() throws {
        var record = ItemRecord(uniqueIdentifier: "secret-1", domainIdentifier: "mail.secret")
        record.attributes = [
            "title": .string("Hidden words"), "contentType": .string("public.text"), "rating": .integer(77),
            "authors": .array([
                .person(PersonValue(displayName: "Hidden", handles: ["h@x"], handleIdentifier: "mail.Hidden"))
            ]
            ),
            "com_hidden_words": .string("Hidden"), "data": .data([1, 2, 3]),
            "names": .localizedString(["en": "Hidden"]),
            "headers": .dictionary(["Hidden-key": .url("Hidden")]), "supportsNavigation": .boolean(true),
            "contentTypeTree": .array([.string("public.data"), .string("Hidden words")]), "contentTypeX": .integer(9),
        ]
        record.traits = ["com_hidden_words": .all]
        var batch: [UInt8] = []
        RecordBatch.append(try record.encoded(), to: &batch)
        let changes = ChangeList([.put(batch), .deleteItems(["secret-1"]), .deleteDomains(["mail"]), .deleteAll])
        var recording = Samples.recording
        recording.sessions = [
            RecordedSession(
                events: [
                    .extensionCall(
                        number: 1, within: 0, Samples.function("searchlight.index/1", "index_records"),
                        [.object(nil, 0), .null, .bytes(batch), .null]),
                    .extensionCall(
                        number: 2, within: 0, Samples.function("searchlight.batch/1", "commit_changes"),
                        [.object(nil, 0), .null, .bytes(changes.bytes), .bytes([9]), .integer(0), .null, .null]),
                ], ending: .finished)
        ]
        let scrubbed = Samples.scrubbed(recording)
        let text = String(decoding: scrubbed.encoded, as: UTF8.self)
        for word in ["Hidden", "hidden", "words", "secret", "mail."] {
            #expect(!text.contains(word), "\(word) is left")
        }
        guard case .extensionCall(_, _, _, let values)? = scrubbed.sessions.first?.events.first,
            case .bytes(let bytes) = values[2],
            case .extensionCall(_, _, _, let others)? = scrubbed.sessions.first?.events.last,
            case .bytes(let list) = others[2]
        else { return #expect(Bool(false), "the events have changed") }
        // The type itself is not secret, but any other value in its place is.
        let slice = try #require(try RecordBatch.split(bytes).first)
        let decoded = try ItemRecord(decoding: slice)
        #expect(decoded.attributes["contentType"] == .string("public.text"))
        #expect(decoded.attributes["rating"] == .integer(0) && decoded.attributes["data"] == .data([0, 0, 0]))
        #expect(decoded.attributes["supportsNavigation"] == .boolean(false))
        #expect(decoded.attributes["contentTypeX"] == .integer(0))
        #expect(decoded.uniqueIdentifier.utf8.count == 8)
        // Only the name of the app's own attribute is another one, of the same form.
        let names = Set(decoded.attributes.keys)
        let own = try #require(names.subtracting(record.attributes.keys).first)
        #expect(Set(record.attributes.keys).subtracting(names) == ["com_hidden_words"])
        #expect(own.split(separator: "_").map(\.count) == [3, 6, 5] && decoded.traits == [own: .all], "\(own)")
        let read = Array(try ChangeList(decoding: list).changes)
        #expect(read.count == 4)
        guard case .deleteItems(let deleted) = read[1] else { return #expect(Bool(false), "\(read)") }
        #expect(deleted == [decoded.uniqueIdentifier])
    }
}
