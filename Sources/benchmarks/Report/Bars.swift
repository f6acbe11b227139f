// SPDX-License-Identifier: Apache-2.0

/// What each figure must reach.
enum Bars {
    // Uniform types
    static let conformance = Bar(.value, atMost: 20)
    static let resolution = Bar(.value, atMost: 1)
    static let firstUseOfTypes = Bar(.value, atMost: 2)
    static let memoryOfTypes = Bar(.value, atMost: 400)

    // The index; ratios are to the baseline in the same row
    static let bulk = Bar(.ratio, atLeast: 0.7)
    static let smallBatches = Bar(.ratio, atLeast: 10)
    static let searchP50 = Bar(.value, atMost: 5)
    static let searchP95 = Bar(.value, atMost: 10)
    static let infixP95 = Bar(.value, atMost: 20)
    static let cancellation = Bar(.value, atMost: 5)
    static let open = Bar(.value, atMost: 50)
    static let size = Bar(.ratio, atMost: 2.5)

    // Extensions
    static let registry = Bar(.value, atMost: 20)

    // Promises; ratios of rates, and of the time for 1 GiB to that for 1 MiB
    static let inPlace = Bar(.ratio, atMost: 1.5)
    static let copy = Bar(.ratio, atLeast: 0.9)
    static let stream = Bar(.ratio, atLeast: 0.8)

    // The service
    static let servedDonation = Bar(.ratio, atMost: 2)
    static let healthyClient = Bar(.ratio, atMost: 2)

    // Bindings; nanoseconds beyond a direct call
    static let boundCall = Bar(.value, atMost: 150)

    // Previews; milliseconds to the first byte
    static let warmPreview = Bar(.value, atMost: 50)

    // The extension host
    static let coldWorker = Bar(.value, atMost: 10)
    static let coldSwiftWorker = Bar(.value, atMost: 25)
    static let warmCall = Bar(.ratio, atMost: 3)
    static let slowestWarmCall = Bar(.value, atMost: 100)
    static let boundary = Bar(.ratio, atMost: 1.05)

    // A person comes back; milliseconds
    static let told = Bar(.value, atMost: 100)
    static let quiet = Bar(.value, atMost: 500)
}

/// The most or the least that a figure, or its ratio to the baseline, may be.
struct Bar: Encodable, CustomStringConvertible {
    enum Subject: String, Encodable { case value, ratio }

    var subject: Subject
    var most: Double?
    var least: Double?

    init(_ subject: Subject, atMost most: Double) {
        self.subject = subject
        self.most = most
    }

    init(_ subject: Subject, atLeast least: Double) {
        self.subject = subject
        self.least = least
    }

    func isMet(_ number: Double) -> Bool { number <= most ?? .infinity && number >= least ?? -.infinity }

    var description: String {
        (most.map { "≤ \(Measurement.number($0))" } ?? "≥ \(Measurement.number(least))")
            + (subject == .ratio ? " ×" : "")
    }
}
