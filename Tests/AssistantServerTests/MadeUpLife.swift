// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import TestSupport

/// An invented life: notes, mail and appointments that answer twenty questions, among several
/// hundred other items on the same subjects.
enum MadeUpLife {
    /// An item, with the name of its app.
    typealias Entry = (app: String, title: String, text: String)

    /// The questions, each with words that only the passage with the answer has.
    static let questions: [(question: String, answer: String)] = [
        ("When does the ferry to Oslo leave?", "pier three at nine"),
        ("What is the door code of the holiday house?", "4711"),
        ("How long do I have to boil the dumplings?", "twelve minutes"),
        ("Who recommended the dentist on Park Street?", "cousin Mira"),
        ("Which medicine is the cat not allowed to take?", "ibuprofen"),
        ("What did we decide about the new logo?", "the green swallow"),
        ("Where did I leave the spare key of the car?", "under the third flower pot"),
        ("How much did the repair of the washing machine cost?", "184 euros"),
        ("What is Anna's shoe size?", "size 39"),
        ("When is the parents' evening at school?", "Tuesday at half past seven"),
        ("What is the name of the plumber who fixed the leak?", "Mr. Okafor"),
        ("Which wine did Paul like at the birthday dinner?", "Blaufränkisch"),
        ("What was the seat number on the flight to Lisbon?", "seat 14C"),
        ("Who takes care of the garden in August?", "Neighbour Helga"),
        ("What is the wifi password in the office kitchen?", "purple-otter-88"),
        ("Why was the meeting with the bank postponed?", "the adviser was ill"),
        ("How many people are coming to the wedding?", "63 guests"),
        ("What does the insurance not pay for?", "damage by moles"),
        ("Which page of the manual explains resetting the heating?", "page 57"),
        ("What present does grandmother want for Christmas?", "a bird feeder"),
    ]

    private static let answers: [Entry] = [
        (
            "notes", "A week in Norway",
            "Bergen first, then the train. The ferry to Oslo leaves from pier three at nine, be there early."
        ),
        ("notes", "Holiday house", "Heating is slow. The code for the front door is 4711, bins go out on Monday."),
        (
            "notes", "Dumplings",
            "Knead the dough, rest it for an hour, fill. Then boil the dumplings for twelve minutes, not longer."
        ),
        ("mail", "Re: tooth ache", "I go to the dentist on Park Street, my cousin Mira recommended her. Very gentle."),
        (
            "mail", "Visit at the vet",
            "The cat is fine. Never give her ibuprofen, it is poison for cats; the other medicine twice a day."
        ),
        (
            "notes", "Meeting of the board",
            "Budget approved. About the new logo we decided for the green swallow, printing starts in May."
        ),
        (
            "notes", "Where things are",
            "Passports in the desk. The spare key of the car is under the third flower pot on the balcony."
        ),
        ("mail", "Invoice 2231", "For the repair of your washing machine, including a new pump, we charge 184 euros."),
        ("notes", "Sizes of the family", "Ben wears trousers in 34. Anna has shoe size 39, but 38 in boots."),
        ("calendar", "Parents' evening", "At school, room 12, Tuesday at half past seven. Bring the form."),
        (
            "mail", "The leak in the bathroom",
            "The plumber, Mr. Okafor, fixed the leak within an hour. Keep his number."
        ),
        (
            "notes", "Birthday dinner",
            "Soup, roast, cake. Paul liked the Blaufränkisch best of all the wine; buy it again."
        ),
        ("mail", "Your booking", "Flight to Lisbon, 12 March, seat 14C at the aisle, one suitcase included."),
        ("calendar", "August", "We are away for four weeks. Neighbour Helga takes care of the garden and the mail."),
        ("notes", "Office", "The wifi in the kitchen has the password purple-otter-88, the printer has none."),
        ("mail", "New appointment", "The meeting with the bank is postponed by a week, because the adviser was ill."),
        ("notes", "The wedding", "63 guests are coming, nine of them children. The hall has room for seventy people."),
        (
            "mail", "Terms of your household insurance",
            "We pay for fire, water and theft. The insurance does not pay for damage by moles and mice."
        ),
        ("notes", "Heating", "If the display shows E4, reset the heating as on page 57 of the manual."),
        ("mail", "Christmas", "Grandmother says that she wants a bird feeder as her present this year, nothing else."),
    ]

    /// Texts on the same subjects without the answers. `#` is a number, `@` a name.
    private static let others: [Entry] = [
        ("mail", "Ferry timetable", "The ferry company has a new timetable. Tickets to Oslo cost # euros."),
        ("notes", "Packing", "For the holiday house: towels, candles, # books, the good knife. Lock the door."),
        ("notes", "Soup", "Boil the vegetables for # minutes, add salt. @ likes it with dumplings."),
        ("calendar", "Dentist", "Check-up, bring the card. Call @ if it gets late."),
        ("mail", "Cat food", "Your order of # tins of cat food is on its way. The cat of @ sends greetings."),
        ("mail", "Logo drafts", "@ sent # drafts of a logo. Please look at them before the meeting."),
        ("notes", "The car", "New tyres at # km. @ has the papers of the car, the key sticks a little."),
        ("mail", "Invoice #", "For the repair of your bicycle we charge # euros. Thank you, @."),
        ("notes", "Shopping", "Shoes for @, washing powder, # eggs, a machine for the office kitchen."),
        ("calendar", "School", "Sports day at school, # o'clock. @ brings a cake, parents are welcome."),
        ("mail", "Water", "The meter shows # cubic metres. A plumber will come, says @."),
        ("notes", "Dinner with @", "Fish, salad, wine. # people at the table. It was a long evening."),
        ("mail", "Flight changes", "Your flight to @ leaves # minutes later. The seat is the same."),
        ("calendar", "Garden", "Cut the hedge with @, # bags. Water the flowers, take care of the roses."),
        ("notes", "Passwords", "Change the password of the wifi each # months. @ has the list."),
        ("mail", "From the bank", "Your statement # is ready. The meeting of the shareholders is online, @."),
        ("notes", "Wedding of @", "Music until #, dance, speech. Who is coming by train?"),
        ("mail", "Insurance", "Your contribution is # euros. The insurance wishes @ a good year."),
        ("notes", "Boiler", "Pressure of the heating # bar. @ has the manual."),
        ("mail", "Presents", "@ asks what the children want for Christmas. About # euros each."),
        ("notes", "Diary", "Walk with @, # km, rain. Read in the evening, went to bed early."),
        ("calendar", "Call @", "About the house and the # boxes. Decide on a day."),
    ]

    private static let names = ["Mia", "Jonas", "Vera", "Tom", "Ada", "Noor", "Ravi", "Lena", "Igor", "Sofia"]

    /// Returns all items, in random order.
    static func entries(_ random: inout SplitMix64) -> [Entry] {
        var entries = answers
        for number in 0..<400 {
            let one = others[number % others.count]
            func filled(_ text: String) -> String {
                text.split(separator: " ", omittingEmptySubsequences: false).map { word in
                    word.replacingOccurrences(of: "#", with: "\(2 + random.below(90))")
                        .replacingOccurrences(of: "@", with: names[random.below(names.count)])
                }.joined(separator: " ")
            }
            let text = (0...random.below(4)).map { _ in filled(others[random.below(others.count)].text) }
            entries.append((one.app, filled(one.title), ([filled(one.text)] + text).joined(separator: " ")))
        }
        return entries.shuffled(using: &random)
    }
}
