// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
internal import ServiceMessages

/// A request that has not been acknowledged yet.
struct WaitingRequest: Sendable {
    typealias Reply = @Sendable (Result<[BusValue], BusError>) -> Void

    /// The content of a request.
    enum Content: Sendable {
        /// A request that changes the index, or reads its state afterwards.
        case index(IndexRequest)
        /// A request that changes nothing and may be replied to in any order.
        case question(BusMember, [BusValue])
    }
    let content: Content
    /// The time of the request.
    let submitted: Duration
    let reply: Reply
    /// The number of times that it was sent.
    var sends = 0
    /// `true` if it was sent over the current connection.
    var isUnderWay = false
    /// `true` if no other change may be in progress at the same time.
    var isAlone = false

    var member: BusMember {
        switch content {
        case .index(let request): request.member
        case .question(let member, _): member
        }
    }

    var arguments: [BusValue] {
        switch content {
        case .index(let request): request.arguments
        case .question(_, let arguments): arguments
        }
    }

    fileprivate var byteCount: Int {
        if case .index(let request) = content { request.byteCount } else { 0 }
    }

    /// `true` if it may have been processed over a lost connection and must not be processed twice.
    var isUncertain: Bool { sends > 0 && isAlone && indexRequest?.isRepeatable == false }

    var indexRequest: IndexRequest? { if case .index(let request) = content { request } else { nil } }
}

/// The requests that have not been acknowledged yet, in order.
struct WaitingRequests {
    /// The maximum number of changes in progress: enough to keep the service busy, and half of the
    /// service's limit.
    static let maximumUnderWay = 32
    /// The maximum total size of several changes in progress, in bytes: half of the service's
    /// limit.
    static let maximumBytesUnderWay = 32 << 20

    /// The maximum number of questions in progress: the service's limit for one client.
    static let maximumQuestionsUnderWay = 16

    private var requests: [UInt64: WaitingRequest] = [:]
    /// The numbers of unsent requests, oldest first. Numbers of removed requests are skipped.
    private var unsentChanges = NumberQueue()
    private var unsentQuestions = NumberQueue()
    private var questionsUnderWay = 0
    private var changesUnderWay = 0
    private var bytesUnderWay = 0
    /// `true` if the change in progress excludes other changes.
    private var isOneAlone = false
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { requests.isEmpty }

    /// Appends a request, and returns its number.
    mutating func append(_ request: WaitingRequest) -> UInt64 {
        lastNumber += 1
        var request = request
        request.isAlone = request.indexRequest?.renamesItems == true
        requests[lastNumber] = request
        if request.indexRequest == nil {
            unsentQuestions.append(lastNumber)
        } else {
            unsentChanges.append(lastNumber)
        }
        return lastNumber
    }

    /// Removes a request, if it still exists.
    mutating func remove(_ number: UInt64) -> WaitingRequest? {
        guard let request = requests.removeValue(forKey: number) else { return nil }
        guard request.isUnderWay else { return request }
        if request.indexRequest == nil {
            questionsUnderWay -= 1
        } else {
            changesUnderWay -= 1
            bytesUnderWay -= request.byteCount
            if request.isAlone { isOneAlone = false }
        }
        return request
    }

    /// Removes and returns the requests that satisfy a condition, oldest first.
    mutating func removeAll(where condition: (WaitingRequest) -> Bool) -> [WaitingRequest] {
        requests.filter { condition($0.value) }.keys.sorted().compactMap { remove($0) }
    }

    /// Removes and returns the requests that may crash the service. These are requests that were
    /// sent at least `sends` times: questions, and the oldest change, because changes are processed
    /// one after another.
    mutating func removeSuspects(afterSends sends: Int) -> [WaitingRequest] {
        let oldest = sentChanges.first?.number
        return requests.filter { number, request in
            request.sends >= sends && (request.indexRequest == nil || number == oldest)
        }.keys.sorted().compactMap { remove($0) }
    }

    /// Returns the oldest request that may be sent now, and marks it as sent.
    mutating func next() -> (number: UInt64, WaitingRequest)? {
        if questionsUnderWay < Self.maximumQuestionsUnderWay,
            let number = unsentQuestions.first(where: { requests[$0] != nil })
        {
            unsentQuestions.removeFirst()
            questionsUnderWay += 1
            return send(number)
        }
        guard let number = unsentChanges.first(where: { requests[$0] != nil }), let request = requests[number] else {
            return nil
        }
        guard
            changesUnderWay == 0
                || (!isOneAlone && !request.isAlone && changesUnderWay < Self.maximumUnderWay
                    && bytesUnderWay + request.byteCount <= Self.maximumBytesUnderWay)
        else { return nil }
        unsentChanges.removeFirst()
        changesUnderWay += 1
        bytesUnderWay += request.byteCount
        isOneAlone = request.isAlone
        return send(number)
    }

    private mutating func send(_ number: UInt64) -> (UInt64, WaitingRequest)? {
        requests[number]?.isUnderWay = true
        requests[number]?.sends += 1
        return requests[number].map { (number, $0) }
    }

    /// Marks all requests as unsent after a lost connection.
    mutating func connectionWasLost() {
        questionsUnderWay = 0
        changesUnderWay = 0
        bytesUnderWay = 0
        isOneAlone = false
        for number in requests.keys { requests[number]?.isUnderWay = false }
        let numbers = requests.keys.sorted()
        unsentChanges = NumberQueue(numbers.filter { requests[$0]?.indexRequest != nil })
        unsentQuestions = NumberQueue(numbers.filter { requests[$0]?.indexRequest == nil })
    }

    /// The changes that were sent over an earlier connection, oldest first.
    var sentChanges: [(number: UInt64, request: IndexRequest)] {
        requests.filter { $0.value.sends > 0 }.sorted { $0.key < $1.key }.compactMap { number, waiting in
            waiting.indexRequest.map { (number, $0) }
        }
    }
}

/// A queue of numbers, oldest first.
private struct NumberQueue {
    private var storage: [UInt64] = []
    private var head = 0

    init(_ numbers: [UInt64] = []) { storage = numbers }

    mutating func append(_ number: UInt64) { storage.append(number) }

    /// Returns the first number that satisfies a condition, and drops the numbers before it.
    mutating func first(where condition: (UInt64) -> Bool) -> UInt64? {
        while head < storage.count, !condition(storage[head]) { removeFirst() }
        return head < storage.count ? storage[head] : nil
    }

    mutating func removeFirst() {
        head += 1
        guard head > 64, head * 2 > storage.count else { return }
        storage.removeFirst(head)
        head = 0
    }
}
