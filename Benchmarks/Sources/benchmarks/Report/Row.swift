// SPDX-License-Identifier: Apache-2.0

/// A row in thresholds.json. Several figures may belong to a row. Its name begins with the part
/// that measures it, followed by a dot.
enum Row: String, Codable, CaseIterable {
    case conformance = "types.conformance"
    case resolution = "types.resolution"
    case firstUseOfTypes = "types.first-use"
    case memoryOfTypes = "types.memory"

    case spellingFirst = "spelling.first"
    case spellingFirstFive = "spelling.first-five"
    case spellingReplaced = "spelling.replaced"
    case spellingTime = "spelling.time"

    case boundCall = "bindings.call"

    case warmRegistry = "registry.warm"
    case loadedLibraries = "registry.loaded"

    case catchUp = "watching.catch-up"
    case watchingMemory = "watching.memory"
    case watchingWakeUps = "watching.wake-ups"

    case inPlace = "promises.in-place"
    case copy = "promises.copy"
    case stream = "promises.stream"

    case streamTime = "content.stream-time"
    case streamMemory = "content.stream-memory"

    case coldWorker = "workers.cold"
    case coldSwiftWorker = "workers.cold-swift"

    case kitInCPlusPlus = "kits.c++"
    case kitInRust = "kits.rust"
    case kitInZig = "kits.zig"
    case kitInGo = "kits.go"
    case kitInPython = "kits.python"

    case warmCall = "calls.warm"
    case slowestWarmCall = "calls.warm-p99"

    case boundary = "boundary.reindex"

    case bulk = "index.bulk"
    case batchesOfOne = "index.batches-of-one"
    case batchesOfEight = "index.batches-of-eight"
    case searchP50 = "index.search-p50"
    case searchP95 = "index.search-p95"
    case infixP95 = "index.infix-p95"
    case questionP50 = "index.question-p50"
    case questionP95 = "index.question-p95"
    case overlap = "index.overlap"
    case suggestions = "index.suggestions"
    case cancellation = "index.cancellation"
    case opening = "index.opening"
    case size = "index.size"

    case told = "returns.told"
    case quiet = "returns.quiet"

    case backgroundRate = "backlog.rate"

    case packageFirst = "relevance.package-first"
    case packageFirstThree = "relevance.package-first-three"
    case commandFirst = "relevance.command-first"
    case commandFirstThree = "relevance.command-first-three"
    case descriptionFirstTen = "relevance.description-first-ten"
    case judgedGain = "relevance.judged-gain"
    case judgedEmpty = "relevance.judged-empty"

    case foreground = "foreground.slowdown"

    case wakeUps = "idle.wake-ups"
    case waitingWakeUps = "idle.waiting"
    case privateMemory = "idle.private"
    case residentMemory = "idle.resident"

    case servedDonation = "service.donation"
    case healthyClient = "service.healthy-client"

    case firstByte = "previews.first-byte"

    case protectedDonation = "protection.donation"
    case unprotectedDonation = "protection.unprotected-donation"
    case unprotectedSearch = "protection.unprotected-search"
    case unlock = "protection.unlock"

    case meaningQuery = "meaning.query"
    case meaningPassage = "meaning.passage"
    case meaningScan = "meaning.scan"
    case meaningRecall = "meaning.recall"
    case meaningMillion = "meaning.million"
    case meaningMillionRecall = "meaning.million-recall"
    case meaningPaused = "meaning.paused"
    case meaningMemory = "meaning.memory"
    case meaningSlowdown = "meaning.slowdown"

    var part: Part? { Part(rawValue: String(rawValue.prefix { $0 != "." })) }
}
