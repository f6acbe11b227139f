// SPDX-License-Identifier: Apache-2.0

import Foundation

// Apple's names, whose first letters are capitals.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The version of the interface that this library follows.
public let CoreSpotlightAPIVersion: Int32 = 40

/// The version of this library.
public let CoreSpotlightVersionNumber: Double = 1

/// The type of the activity with which an app is told that one of its results was opened.
public let CSSearchableItemActionType = "com.apple.corespotlightitem"

/// The key, in such an activity's user info, of the identifier of the item that was opened.
public let CSSearchableItemActivityIdentifier = "kCSSearchableItemActivityIdentifier"

/// The type of the activity with which an app is asked to go on with a search.
public let CSQueryContinuationActionType = "com.apple.corespotlightquery"

/// The key, in such an activity's user info, of what the person typed.
public let CSSearchQueryString = "kCSSearchQueryString"

/// The key, in an activity's user info, of the action that the person chose.
public let CSActionIdentifier = "kCSActionIdentifier"

/// The mailbox of received messages, for `mailboxIdentifiers`.
public let CSMailboxInbox = "mailbox.inbox"

/// The mailbox of messages not yet sent.
public let CSMailboxDrafts = "mailbox.drafts"

/// The mailbox of sent messages.
public let CSMailboxSent = "mailbox.sent"

/// The mailbox of unwanted messages.
public let CSMailboxJunk = "mailbox.junk"

/// The mailbox of deleted messages.
public let CSMailboxTrash = "mailbox.trash"

/// The mailbox of messages put away.
public let CSMailboxArchive = "mailbox.archive"

/// The domain of ``CSIndexError``.
public let CSIndexErrorDomain = "CSIndexErrorDomain"

/// The domain of ``CSSearchQueryError``.
public let CSSearchQueryErrorDomain = "CSSearchQueryErrorDomain"
