// SPDX-License-Identifier: Apache-2.0

/// Tries what becomes of an extension's worker when its host has gone.
public enum HangUpTrial {
    /// Starts a worker, has it load the extension, and hangs up.
    ///
    /// - Parameters:
    ///   - receiver: Keeps what the extension donates meanwhile.
    ///   - grace: How long the worker may take to end by itself; then it is ended.
    /// - Returns: Whether it ended by itself.
    /// - Throws: ``ExtensionError`` if it could not be started.
    public static func endsByItself(
        _ bundle: ExtensionBundle, _ configuration: WorkerConfiguration, receiver: any DonationReceiver,
        within grace: Duration, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(ExtensionError) -> Bool {
        // The worker knows it only weakly.
        let processes = WorkerProcesses()
        let worker = try await RunningWorker.start(
            bundle, configuration, .person, processes, receiver: receiver, onWork: { () }, onEvent: onEvent)
        let hasEnded = await worker.hangUp(within: grace)
        return withExtendedLifetime(processes) { hasEnded }
    }
}
