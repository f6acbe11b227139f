// SPDX-License-Identifier: Apache-2.0

/// The calls between the host and one worker.
package struct RecordedSession: Sendable, Hashable {
    package var events: [BoundaryEvent]
    package var ending: SessionEnding

    package init(events: [BoundaryEvent], ending: SessionEnding) {
        self.events = events
        self.ending = ending
    }

    /// `true` if later events are missing.
    package var isTruncated: Bool { events.last == .truncated }

    /// Reads the events that a worker wrote. If the worker exited while it was writing the last
    /// event, that event is left out.
    ///
    /// - Parameters:
    ///   - isCut: `true` if the worker wrote more than these bytes.
    ///   - room: The room for the events. The session is truncated where the room ends.
    /// - Throws: ``RecordingError``
    package init(
        written bytes: [UInt8], isCut: Bool = false, ending: SessionEnding, room: inout RecordingRoom
    ) throws(RecordingError) {
        self.ending = ending
        events = []
        var reader = BoundaryReader(bytes[...])
        while !reader.isAtEnd, !isTruncated {
            let start = reader.offset
            var attempt = reader
            guard let body = try? attempt.block() else { break }
            reader = attempt
            // The worker could not write the event at this position, and left an empty one.
            guard !body.isEmpty else {
                events.append(.truncated)
                break
            }
            var content = BoundaryReader(body)
            let event = try BoundaryEvent(&content)
            guard room.take(event, bytes: reader.offset - start) else {
                events.append(.truncated)
                break
            }
            events.append(event)
        }
        if isCut, !isTruncated { events.append(.truncated) }
    }
}

/// The calls between the host and an extension: a file created by `searchlight extensions record`.
/// docs/RECORDINGS.md describes its format.
package struct CallRecording: Sendable, Hashable {
    /// The bundle identifier of the extension.
    package var bundle: String
    /// The manifest's `NSExtensionPrincipalClass`.
    package var principalClass: String?
    /// `true` if personal text has been replaced with placeholders.
    package var isScrubbed = false
    /// The sessions, in order: one per worker.
    package var sessions: [RecordedSession]

    /// The first bytes of a file. The last of them is the format version.
    private static let signature: [UInt8] = Array("SLRECORD".utf8) + [1]
    /// The maximum size of a file, in bytes.
    package static let maximumBytes = 256 << 20
    /// The maximum number of events in a file.
    package static let maximumEvents = 4_000_000
    /// The maximum number of values in a file, including values in lists.
    package static let maximumValues = 16_000_000
    /// The maximum number of sessions in a file.
    package static let maximumSessions = 1000
    private static let maximumIdentifierBytes = 255

    package init(bundle: String, principalClass: String?, sessions: [RecordedSession]) {
        self.bundle = bundle
        self.principalClass = principalClass
        self.sessions = sessions
    }

    /// Reads a file.
    ///
    /// - Throws: ``RecordingError``
    package init(decoding bytes: [UInt8]) throws(RecordingError) {
        guard bytes.count <= Self.maximumBytes else {
            throw RecordingError(offset: 0, reason: "it has more than \(Self.maximumBytes) bytes")
        }
        guard bytes.starts(with: Self.signature.dropLast()) else {
            throw RecordingError(offset: 0, reason: "it does not begin as a recording")
        }
        guard bytes.starts(with: Self.signature) else {
            let (position, known) = (Self.signature.count - 1, Self.signature.last ?? 0)
            let version = bytes.dropFirst(position).first ?? 0
            throw RecordingError(
                offset: position, reason: "its format has version \(version), and this program reads version \(known)",
                isNewer: version > known)
        }
        var reader = BoundaryReader(bytes[Self.signature.count...])
        let flags = try reader.byte()
        guard flags <= 1 else { throw reader.error("its flags are unknown") }
        isScrubbed = flags == 1
        guard let bundle = String(validating: try reader.block(), as: UTF8.self),
            let principal = String(validating: try reader.block(), as: UTF8.self)
        else { throw reader.error("a name is not UTF-8") }
        guard Self.isIdentifier(bundle) else { throw reader.error("its bundle identifier is no reverse-DNS name") }
        self.bundle = bundle
        principalClass = principal.isEmpty ? nil : principal
        let count = try reader.unsigned()
        guard count <= UInt64(Self.maximumSessions) else { throw reader.error("there are \(count) sessions") }
        sessions = []
        var (events, values) = (0, Self.maximumValues)
        for _ in 0..<Int(count) {
            let (kind, value) = (try reader.byte(), try reader.signed())
            guard let detail = Int32(exactly: value) else { throw reader.error("a status has more than 32 bits") }
            let ending: SessionEnding
            switch kind {
            case 0: ending = .finished
            case 1: ending = .endedByHost
            case 2: ending = .exited(status: detail)
            case 3: ending = .signalled(detail)
            default: throw reader.error("there is no ending of kind \(kind)")
            }
            var session = RecordedSession(events: [], ending: ending)
            let length = try reader.unsigned()
            guard length <= UInt64(reader.remaining) else { throw reader.error("a session is longer than the file") }
            events += Int(length)
            guard events <= Self.maximumEvents else { throw reader.error("there are too many events") }
            for _ in 0..<Int(length) {
                var body = BoundaryReader(try reader.block(), values: values)
                session.events.append(try BoundaryEvent(&body))
                values = body.values
            }
            sessions.append(session)
        }
        guard reader.isAtEnd else { throw reader.error("something follows the last session") }
    }

    /// Returns `true` for a valid bundle identifier. It becomes part of file names and of another
    /// manifest.
    private static func isIdentifier(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= maximumIdentifierBytes && parts.count > 1
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy { byte in
                        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                            || byte == UInt8(ascii: "-")
                    }
            }
    }

    /// `false` if a session lacks later events.
    package var isComplete: Bool { !sessions.contains { $0.isTruncated } }

    /// The encoded content of the file.
    package var encoded: [UInt8] {
        var writer = BoundaryWriter()
        for byte in Self.signature { writer.byte(byte) }
        writer.byte(isScrubbed ? 1 : 0)
        writer.block(Array(bundle.utf8))
        writer.block(Array((principalClass ?? "").utf8))
        writer.unsigned(UInt64(sessions.count))
        var bytes = writer.bytes
        for session in sessions {
            var head = BoundaryWriter()
            switch session.ending {
            case .finished: head.byte(0); head.signed(0)
            case .endedByHost: head.byte(1); head.signed(0)
            case .exited(let status): head.byte(2); head.signed(Int64(status))
            case .signalled(let signal): head.byte(3); head.signed(Int64(signal))
            }
            head.unsigned(UInt64(session.events.count))
            bytes += head.bytes
            for event in session.events { bytes += event.encoded }
        }
        return bytes
    }

    /// The number of calls in both directions.
    package var callCount: Int {
        sessions.reduce(0) { count, session in
            count
                + session.events.count {
                    switch $0 {
                    case .hostCall, .extensionCall: true
                    default: false
                    }
                }
        }
    }
}
