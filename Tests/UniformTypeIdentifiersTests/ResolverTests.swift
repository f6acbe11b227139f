// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import UniformTypeIdentifiers

@Suite("Resolving representations")
struct ResolverTests {
    /// Returns random lists that often overlap: close relatives, dynamic types and undeclared
    /// names.
    static func randomTypes(_ random: inout SplitMix64) -> [UTType] {
        let near: [UTType] = [
            .png, .jpeg, .image, .data, .content, .item, .text, .plainText, .utf8PlainText, .html, .rtf, .pdf, .rtfd,
        ]
        return (0..<Int.random(in: 0...10, using: &random)).map { _ in
            switch Int.random(in: 0...9, using: &random) {
            case 0: UTType(exportedAs: "com.example.n\(Int.random(in: 0...3, using: &random))", conformingTo: .text)
            case 1: UTType(filenameExtension: "zz\(Int.random(in: 0...3, using: &random))") ?? .data
            case 2, 3: UTType(core: CoreIndex.random(in: 0..<CoreIndex(CoreTable.shared.count), using: &random))
            default: near.randomElement(using: &random)!
            }
        }
    }

    @Test("A PNG serves a request for an image, an image does not serve a request for a PNG")
    func conformanceHasADirection() {
        #expect(UTTypeResolver.choose(offered: [.png], accepted: [.image]) != nil)
        #expect(UTTypeResolver.choose(offered: [.image], accepted: [.png]) == nil)
    }

    @Test("The source's order decides among representations that serve one request, not the distance")
    func sourceOrder() {
        let choice = UTTypeResolver.choose(offered: [.png, .image, .jpeg], accepted: [.image])
        #expect(choice == .init(offeredIndex: 0, acceptedIndex: 0))
    }

    @Test("The receiver's order takes precedence unless the source's is preferred")
    func preferences() {
        let (offered, accepted): ([UTType], [UTType]) = ([.html, .utf8PlainText], [.plainText, .text])
        let receiver = UTTypeResolver.resolve(offered: offered, accepted: accepted)
        #expect(receiver.choice == .init(offeredIndex: 1, acceptedIndex: 0))
        #expect(receiver.rule == .receiversOrder)
        let source = UTTypeResolver.resolve(offered: offered, accepted: accepted, preferring: .source)
        #expect(source.choice == .init(offeredIndex: 0, acceptedIndex: 1))
        #expect(source.rule == .sourcesOrder)
    }

    @Test("The explanation lists every pair, its relation and the rule")
    func explanation() {
        let resolution = UTTypeResolver.resolve(
            offeredIdentifiers: ["public.png", "public.data", "dev.kaya/note"],
            acceptedIdentifiers: ["public.image", "DEV.kaya/NOTE"])
        #expect(
            resolution.pairs.map(\.relation) == [
                .conforms(distance: 1), .notDeclared, .tooGeneral, .notDeclared, .notDeclared, .same,
            ])
        #expect(resolution.rule == .receiversOrder)
        #expect(resolution.description.contains("→ public.png for public.image: serves, conforms in 1 step"))
        #expect(UTTypeResolver.resolve(offered: [], accepted: [.data]).rule == .nothingServes)
        #expect(UTTypeResolver.resolve(offered: [.pdf], accepted: [.png, .item]).rule == .onlyPair)
    }

    @Test("Undeclared identifiers match only the same identifier, ignoring case")
    func rawIdentifiers() {
        let choose = UTTypeResolver.choose(offeredIdentifiers:acceptedIdentifiers:preferring:)
        #expect(choose(["com.x.a"], ["COM.X.A"], .receiver) != nil)
        #expect(choose(["com.x.a"], ["public.data"], .receiver) == nil)
        #expect(choose(["text/html"], ["text/html"], .source) != nil)
        #expect(choose(["text/html"], ["public.html"], .source) == nil)
        #expect(choose([""], ["public.item"], .receiver) == nil)
    }

    @Test(
        "The choice serves, is the first in order, and is the explained one", arguments: 0..<40 as Range<UInt64>
    )
    func choiceIsRight(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<25 {
            let (offered, accepted) = (ResolverTests.randomTypes(&random), ResolverTests.randomTypes(&random))
            for preference in UTTypeResolver.Preference.allCases {
                let choice = UTTypeResolver.choose(offered: offered, accepted: accepted, preferring: preference)
                let resolution = UTTypeResolver.resolve(offered: offered, accepted: accepted, preferring: preference)
                #expect(choice == resolution.choice)
                let serving = resolution.pairs.filter { pair in
                    let type = offered[pair.offeredIndex]
                    let request = accepted[pair.acceptedIndex]
                    return type == request || type.supertypes.contains(request)
                }
                #expect(serving == resolution.pairs.filter(\.relation.serves))
                // A type is chosen exactly if at least one type can serve.
                guard let choice else {
                    #expect(serving.isEmpty)
                    continue
                }
                #expect(
                    serving.contains {
                        ($0.offeredIndex, $0.acceptedIndex) == (choice.offeredIndex, choice.acceptedIndex)
                    })
                for pair in serving {
                    switch preference {
                    case .receiver: #expect(pair.acceptedIndex >= choice.acceptedIndex)
                    case .source: #expect(pair.offeredIndex >= choice.offeredIndex)
                    }
                }
            }
        }
    }

    @Test("An offer without a receiver changes nothing", arguments: 100..<120 as Range<UInt64>)
    func uselessOffers(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<25 {
            let (offered, accepted) = (ResolverTests.randomTypes(&random), ResolverTests.randomTypes(&random))
            let useless = UTTypeSnapshot.core.typeOrName("com.example.useless")
            let position = Int.random(in: 0...offered.count, using: &random)
            var more = offered
            more.insert(useless, at: position)
            for preference in UTTypeResolver.Preference.allCases {
                let before = UTTypeResolver.choose(offered: offered, accepted: accepted, preferring: preference)
                let after = UTTypeResolver.choose(offered: more, accepted: accepted, preferring: preference)
                #expect(before.map { offered[$0.offeredIndex] } == after.map { more[$0.offeredIndex] })
                #expect(before?.acceptedIndex == after?.acceptedIndex)
                if let before, let after {
                    #expect(after.offeredIndex == before.offeredIndex + (before.offeredIndex >= position ? 1 : 0))
                }
            }
        }
    }
}
