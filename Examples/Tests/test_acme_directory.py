# SPDX-License-Identifier: Apache-2.0
"""Acme Directory as a user has it: as processes, with the bus, the service and the workers of its extension.

    python3 -B -m unittest discover --start-directory Examples/Tests
    EXAMPLES_ROUNDS=50 …            repeats the journeys 50 times
"""

import datetime
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import World, eventually, rounds

STAFF = [
    ("Ada Lovelace", "Analyst", "Research", "--phone", "+47 123", "--mail", "ada@acme.example", "--public"),
    ("Grace Hopper", "Admiral", "Research", "--mail", "grace@acme.example"),
    ("Blaise Pascal", "Accountant", "Sales"),
]
ALL = {"ada-lovelace", "grace-hopper", "blaise-pascal"}


class AcmeDirectory(World):
    folder_name = "AcmeDirectory"
    identifier = "com.example.AcmeDirectory"

    def add_staff(self):
        for name, title, department, *options in STAFF:
            self.app("add", *name.split(), "--title", title, "--department", department, *options)

    def items(self):
        return set(self.identifiers("list"))

    @rounds
    def test_the_directory_survives_a_lost_index_and_continues(self, _):
        window = self.open_app()
        for name, title, department, *options in STAFF:
            window.tell(" ".join(["add", name, "--title", title, "--department", department, *options]).replace("+47 ", "+47"))
            window.wait_for("added")
        eventually(lambda: self.items() == ALL, "the employees were not donated")
        self.assertEqual(window.close(), 0)
        self.lose_index()
        self.assertEqual(self.items(), set())
        self.reindex()
        self.assertEqual(self.items(), ALL)
        self.check_search_drag_and_open()

    def check_search_drag_and_open(self):
        found = self.identifiers("search", "hopper")
        self.assertEqual(found[:1], ["grace-hopper"])
        card = self.command("drag", self.number("ada-lovelace"), "--accept", "public.vcard", "--output", "-")
        self.assertIn("FN:Ada Lovelace\n", card.replace("\r", ""))
        text = self.command("drag", self.number("ada-lovelace"), "--accept", "public.plain-text", "--output", "-")
        self.assertEqual(text.splitlines()[:2], ["Ada Lovelace", "Analyst"])
        preview = self.command("preview", self.number("ada-lovelace"))
        self.assertIn("Analyst, Research", preview)
        # The app does not run, so the bus starts it.
        self.assertEqual(self.json("open", self.number("grace-hopper"))["outcome"], "continued")
        self.wait_for_shown("employee grace-hopper")
        self.command("continue", self.identifier, "res")
        self.wait_for_shown("search res: ada-lovelace, grace-hopper")
        # Viewing is an activity. It opens the same employee, from the user info that it stored.
        activity = "com.searchlight.activity:grace-hopper"
        eventually(lambda: activity in self.items(), "the activity was not donated")
        self.command("open", self.number(activity))
        self.wait_for_shown("employee grace-hopper", count=2)
        # The extension did only what its manifest declares.
        self.assertNotIn("tried to", self.command("status"))
        self.end_started_app()

    @rounds
    def test_the_directory_survives_kills_of_everything(self, random):
        self.add_staff()
        for _ in range(2):
            # The service is killed while the extension donates.
            reindex = self.start("reindex", self.identifier)
            time.sleep(random.uniform(0, 0.6))
            self.kill_service()
            reindex.process.wait()
            self.start_service()
            # The app is killed while it donates.
            donation = self.start_app("donate")
            time.sleep(random.uniform(0, 0.3))
            donation.kill()
            donation.process.wait()
        self.app("donate")
        self.assertEqual(self.items(), ALL)
        self.lose_index()
        reindex = self.start("reindex", self.identifier)
        time.sleep(random.uniform(0, 0.6))
        self.kill_service()
        reindex.process.wait()
        self.start_service()
        self.reindex()
        self.assertEqual(self.items(), ALL)
        self.check_search_drag_and_open()

    def test_the_app_searches_its_items_by_text_and_department(self):
        self.add_staff()
        found = lambda *words: {line.split("\t")[0] for line in self.app("find", *words)}
        self.assertEqual(found("lovel"), {"ada-lovelace"})
        self.assertEqual(found("a", "--department", "Research"), {"ada-lovelace", "grace-hopper"})
        self.assertEqual(found("a", "--department", "Sales"), {"blaise-pascal"})
        # Characters of the query language in a text are text.
        self.assertEqual(found('*" || title == "*'), set())

    def test_a_contract_ends_with_its_item(self):
        soon = datetime.date.today() + datetime.timedelta(days=90)
        self.app("add", "Alan", "Turing", "--department", "Research", "--until", soon.isoformat())
        self.app("add", "Kurt", "Gödel", "--department", "Research", "--until", "2020-01-01")
        self.app("add", "Emmy", "Noether", "--department", "Research")
        self.assertEqual(self.items(), {"alan-turing", "emmy-noether"})
        ends = self.json("show", "alan-turing", "--bundle", self.identifier)["expires"]
        self.assertTrue(ends.startswith(soon.isoformat()), ends)
        self.lose_index()
        self.reindex()
        self.assertEqual(self.items(), {"alan-turing", "emmy-noether"})

    def test_employees_have_thumbnails_and_calls(self):
        self.add_staff()
        item = self.json("show", "ada-lovelace", "--bundle", self.identifier)
        text = json.dumps(item)
        self.assertIn("iVBORw0KGgo", text)  # a PNG in base 64
        self.assertEqual(item["attributes"]["supportsPhoneCall"], 1)
        self.assertNotIn("supportsPhoneCall", self.json("show", "grace-hopper", "--bundle", self.identifier)["attributes"])

    def test_a_closed_department_and_its_activities_leave_the_index(self):
        self.add_staff()
        self.app("show", "ada-lovelace")
        self.app("show", "blaise-pascal")
        activities = {"com.searchlight.activity:ada-lovelace", "com.searchlight.activity:blaise-pascal"}
        self.assertEqual(self.items(), ALL | activities)
        self.app("close", "Research")
        left = {"blaise-pascal", "com.searchlight.activity:blaise-pascal"}
        eventually(lambda: self.items() == left, "the department stayed")
        self.app("remove", "blaise-pascal")
        eventually(lambda: self.items() == set(), "a removed employee or an activity stayed")
        self.reindex()
        self.assertEqual(self.items(), set())

    def test_public_employees_have_pages_with_markup(self):
        self.app("add", "Mary", "</script><b>", "--title", "R&D", "--department", "Research", "--public")
        self.add_staff()
        pages = self.root / "pages"
        self.assertEqual(self.app("publish", pages), ["published 2"])
        page = (pages / "ada-lovelace.html").read_text()
        facts = lambda page: json.loads(re.search(r'<script type="application/ld\+json">(.*?)</script>', page)[1])
        self.assertEqual((facts(page)["@type"], facts(page)["name"]), ("Person", "Ada Lovelace"))
        self.assertIn("app-argument=acme-directory://staff/ada-lovelace", page)
        hostile = next(path for path in pages.iterdir() if path.name.startswith("mary")).read_text()
        self.assertEqual(facts(hostile)["name"], "Mary </script><b>")
        self.assertNotIn("<b>", hostile)
        self.assertEqual(facts(page)["url"], self.json("show", "ada-lovelace", "--bundle", self.identifier)["attributes"]["url"])

    def test_the_extension_passes_the_validator(self):
        self.add_staff()
        self.command("extensions", "validate", self.identifier)
