// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func continuedSearch(_ activity: NSUserActivity) -> String? {
    if activity.activityType == CSQueryContinuationActionType {
        return activity.userInfo?[CSSearchQueryString] as? String
    }
    return nil
}
