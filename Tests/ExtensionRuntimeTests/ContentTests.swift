// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightExtension
import ServiceMessages
import SystemSupport
import Testing

@testable import ExtensionRuntime

/// Descriptors and streams as the content of promises.
@Suite("searchlight.content-draft/1")
struct ContentTests {
    private let fake = FakeHost()

    private func content() throws -> searchlight_host_content { try fake.interface(SEARCHLIGHT_HOST_CONTENT) }

    /// The numbers of streams that were reported.
    private var counts: [UInt64] {
        fake.link.posts.compactMap { if case .openStreams(let count) = $0 { count } else { nil } }
    }

    @Test("A stream arrives whole, and its end is reported")
    func stream() throws {
        let content = try content()
        let (request, answers) = fake.open()
        let stream = content.finish_with_stream(fake.host, request, 6)
        guard case .stream(let reader, 6)? = answers.last else {
            Issue.record("\(String(describing: answers.last))")
            return
        }
        #expect(counts == [1])
        #expect(content.write(stream, "abc", 3) == SEARCHLIGHT_OK)
        #expect(content.write(stream, nil, 0) == SEARCHLIGHT_OK)
        #expect(content.write(stream, "def", 3) == SEARCHLIGHT_OK)
        content.end(stream)
        #expect(counts == [1, 0])
        #expect(try WholeTransfer.bytes(of: reader.number, upTo: 100) == Array("abcdef".utf8))
        #expect(fake.link.misuses == [])
    }

    @Test("More bytes than announced, bytes at no address, and an ended stream are rejected and reported")
    func misuse() throws {
        let content = try content()
        let (request, answers) = fake.open()
        let stream = content.finish_with_stream(fake.host, request, 4)
        #expect(content.write(stream, "abcde", 5) == SEARCHLIGHT_TOO_LARGE)
        #expect(content.write(stream, nil, 1) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(content.write(stream, "a", -1) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(content.write(stream, "ab", 2) == SEARCHLIGHT_OK)
        content.end(stream)
        content.end(nil)
        #expect(content.write(stream, "cd", 2) == SEARCHLIGHT_INVALID_ARGUMENT)
        content.end(stream)
        #expect(
            fake.link.misuses == [
                .invalidArgument, .invalidArgument, .invalidArgument, .usedAfterRelease, .usedAfterRelease,
            ])
        guard case .stream(let reader, 4)? = answers.last else { return }
        #expect(try WholeTransfer.bytes(of: reader.number, upTo: 100) == Array("ab".utf8))
    }

    @Test("A receiver that has gone cancels the stream")
    func receiverIsGone() throws {
        let content = try content()
        // The handler drops the reader.
        let request = fake.session.requests.open { _ in }
        let stream = content.finish_with_stream(fake.host, request, 1)
        #expect(content.write(stream, "a", 1) == SEARCHLIGHT_CANCELLED)
        content.end(stream)
    }

    @Test("A second answer gets no stream, and neither does a stream too many")
    func bounds() throws {
        let content = try content()
        let (answered, answers) = fake.open()
        fake.session.finish(answered, .acknowledged)
        #expect(content.finish_with_stream(fake.host, answered, 1) == nil)
        #expect(answers.count == 1 && counts == [])
        let most = Int(SEARCHLIGHT_STREAMS_MAX)
        let streams = (0..<most).map { _ in content.finish_with_stream(fake.host, fake.open().request, 1) }
        #expect(!streams.contains(nil))
        let (late, lateAnswers) = fake.open()
        #expect(content.finish_with_stream(fake.host, late, 1) == nil)
        #expect(lateAnswers.count == 0, "it can still be answered")
        for stream in streams { content.end(stream) }
        #expect(counts == (1...most).map(UInt64.init) + (0..<most).reversed().map(UInt64.init))
        let next = content.finish_with_stream(fake.host, late, 1)
        #expect(next != nil && lateAnswers.count == 1)
        content.end(next)
    }

    @Test("A descriptor is duplicated, and its file is read from its start")
    func descriptor() throws {
        let content = try content()
        let (request, answers) = fake.open()
        let number = open("/tmp", O_RDWR | 0o20_200_000 | O_CLOEXEC, 0o600)
        try #require(number >= 0 && write(number, "content", 7) == 7)
        content.finish_with_descriptor(fake.host, request, number, nil)
        close(number)
        guard case .descriptor(let file, "")? = answers.last else {
            Issue.record("\(String(describing: answers.last))")
            return
        }
        guard case .stream(let reader, 7) = try Payload(file: file) else {
            Issue.record("another payload")
            return
        }
        #expect(try WholeTransfer.bytes(of: reader.number, upTo: 100) == Array("content".utf8))
        #expect(try FileReply(checking: file, name: "a").name == "a")
    }

    @Test("A closed descriptor, a pipe and a path as the name are rejected")
    func unusable() throws {
        let content = try content()
        for (number, name) in [(Int32(999_999), nil), (-1, nil), (0, "a/b")] as [(Int32, String?)] {
            let (request, answers) = fake.open()
            content.finish_with_descriptor(fake.host, request, number, name)
            #expect(answers.failure?.status == .invalidArgument)
        }
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (OwnedDescriptor(adopting: ends[0]), OwnedDescriptor(adopting: ends[1]))
        #expect(throws: FileRefusal.self) { try Payload(file: reader) }
        #expect(throws: FileRefusal.self) { try FileReply(checking: writer, name: "") }
    }
}
