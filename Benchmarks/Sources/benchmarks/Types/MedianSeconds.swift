// SPDX-License-Identifier: Apache-2.0

/// Returns the median time of one repetition, in seconds, over several samples. The first sample is
/// warm-up.
func medianSeconds(samples: Int = 9, repetitions: Int, _ body: () -> Void) -> Double {
    var seconds: [Double] = []
    for sample in 0...samples {
        let elapsed = ContinuousClock().measure { for _ in 0..<repetitions { body() } }
        guard sample > 0 else { continue }
        let total = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
        seconds.append(total / Double(repetitions))
    }
    return seconds.sorted()[seconds.count / 2]
}
