// SPDX-License-Identifier: Apache-2.0
import AcmeRecords
import CoreSpotlight
import DesktopApp
import ExampleSupport

/// The activity of viewing an employee.
enum ViewActivity {
    /// The type. The property list of the app names it in `NSUserActivityTypes`.
    static let type = "com.example.AcmeDirectory.view"
    private static let key = "employee"

    static func make(of employee: Employee) -> NSUserActivity {
        let activity = NSUserActivity(activityType: type)
        activity.title = employee.name
        activity.userInfo = [key: employee.id]
        // With a web page, only required keys are stored.
        activity.requiredUserInfoKeys = [key]
        activity.persistentIdentifier = employee.id
        activity.isEligibleForSearch = true
        if employee.isPublic {
            activity.webpageURL = employee.webpage
            activity.isEligibleForPublicIndexing = true
        }
        let attributes = CSSearchableItemAttributeSet(contentType: .contact)
        attributes.contentDescription = "Viewed in Acme Directory"
        attributes.domainIdentifier = "viewed"
        // The activity leaves the index with the employee.
        attributes.relatedUniqueIdentifier = employee.id
        activity.contentAttributeSet = attributes
        return activity
    }

    static func employee(of activity: NSUserActivity) -> String? { activity.userInfo?[key] as? String }
}

extension Directory {
    func open() {
        NSUserActivity.setContinuationHandler { activity, _ in proceed(with: activity) }
    }

    /// Continues an activity: an opened item, a search, or an employee that was viewed before.
    ///
    /// - Returns: `false` for an employee that is gone, so that the service reports it.
    private func proceed(with activity: NSUserActivity) -> Bool {
        switch activity.activityType {
        case CSSearchableItemActionType:
            view(activity.userInfo?[CSSearchableItemActivityIdentifier] as? String)
        case ViewActivity.type:
            view(ViewActivity.employee(of: activity))
        case CSQueryContinuationActionType:
            search(activity.userInfo?[CSSearchQueryString] as? String ?? "")
        default: false
        }
    }

    /// Handlers should return soon, so the work continues in a task.
    private func view(_ id: String?) -> Bool {
        guard let id, let staff = try? Staff.file.read(), staff[id] != nil else { return false }
        Task {
            do { try await view(id) } catch { show("Error: \(error.localizedDescription)") }
        }
        return true
    }

    private func search(_ text: String) -> Bool {
        Task {
            do {
                let found = try await find(text)
                try shown.add("search \(text): \(found.map(\.uniqueIdentifier).sorted().joined(separator: ", "))")
                for item in found { show(Self.line(item)) }
            } catch { show("Error: \(error.localizedDescription)") }
        }
        return true
    }
}
