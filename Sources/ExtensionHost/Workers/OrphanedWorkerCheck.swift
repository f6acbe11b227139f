// SPDX-License-Identifier: Apache-2.0

/// Checks how an extension's worker reacts to the loss of its host.
public enum OrphanedWorkerCheck {
    /// Starts a worker, loads the extension, and closes the connection.
    ///
    /// - Parameters:
    ///   - receiver: The receiver of donations during the check.
    ///   - grace: The time after which the worker is terminated.
    /// - Returns: `true` if the worker exited by itself.
    /// - Throws: ``ExtensionError`` if the worker could not be started.
    public static func endsByItself(
        _ bundle: ExtensionBundle, _ configuration: WorkerConfiguration, receiver: any DonationReceiver,
        within grace: Duration, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(ExtensionError) -> Bool {
        // The worker only holds a weak reference to `processes`.
        let processes = WorkerProcesses()
        let worker = try await RunningWorker.start(
            bundle, configuration, .person, processes, receiver: receiver, onWork: { () }, onEvent: onEvent)
        let hasEnded = await worker.hangUp(within: grace)
        return withExtendedLifetime(processes) { hasEnded }
    }
}
