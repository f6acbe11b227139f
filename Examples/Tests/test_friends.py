# SPDX-License-Identifier: Apache-2.0
"""Friends as a user has it: as processes, with the bus, the service and the workers of its extension."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import World, eventually, rounds

CALL = "com.searchlight.activity:call-anna-berg"


class Friends(World):
    folder_name = "Friends"
    identifier = "com.example.Friends"

    def add_friends(self):
        self.app("add", "Anna", "Berg", "--group", "Choir", "--phone", "+47123", "--mail", "anna@example.com")
        self.app("add", "Anna", "Holm", "--group", "Work", "--mail", "holm@example.com")
        self.app("add", "Bo", "Lund", "--group", "Family", "--phone", "+47456")

    def items(self):
        return set(self.identifiers("list"))

    def drag(self, identifier, accepted, **options):
        return self.command("drag", self.number(identifier), "--accept", accepted, "--output", "-", **options)

    @rounds
    def test_friends_survive_a_lost_index_and_continue(self, _):
        app = self.open_app()
        for line in ("add Anna Berg --group Choir --phone +47123", "add Anna Holm --group Work", "add Bo Lund --group Family"):
            app.tell(line)
        eventually(lambda: len(self.items()) == 3, "the friends were not donated")
        self.assertEqual(app.close(), 0)
        self.lose_index()
        self.reindex()
        self.check_search_drag_and_open()

    def check_search_drag_and_open(self):
        self.assertEqual(self.items(), {"anna-berg", "anna-holm", "bo-lund"})
        self.assertEqual(self.identifiers("search", "lund")[:1], ["bo-lund"])
        self.assertIn("FN:Anna Berg", self.drag("anna-berg", "public.vcard"))
        self.assertEqual(self.json("open", self.number("anna-berg"))["outcome"], "continued")
        self.wait_for_shown("friend anna-berg")
        self.command("continue", self.identifier, "bo")
        self.wait_for_shown("search bo: bo-lund")
        # The extension did only what its manifest declares.
        self.assertNotIn("tried to", self.command("status"))
        self.end_started_app()

    @rounds
    def test_friends_survive_kills_of_everything(self, random):
        self.add_friends()
        for _ in range(2):
            reindex = self.start("reindex", self.identifier)
            time.sleep(random.uniform(0, 0.6))
            self.kill_service()
            reindex.process.wait()
            self.start_service()
            call = self.start_app("call", "bo-lund")
            time.sleep(random.uniform(0, 0.3))
            call.kill()
            call.process.wait()
        self.app("forget-calls")
        self.app("donate")
        self.lose_index()
        self.reindex()
        self.check_search_drag_and_open()

    def test_a_contact_is_dropped_as_a_card_a_text_or_a_picture(self):
        self.add_friends()
        card = self.drag("anna-berg", "public.vcard").replace("\r", "")
        self.assertEqual(
            card, "BEGIN:VCARD\nVERSION:4.0\nFN:Anna Berg\nTEL:+47123\nEMAIL:anna@example.com\nEND:VCARD\n")
        self.assertEqual(self.drag("anna-berg", "public.utf8-plain-text"), "Anna Berg\n+47123\nanna@example.com\n")
        picture = self.drag("anna-berg", "public.image", text=False)
        self.assertTrue(picture.startswith(b"\x89PNG\r\n\x1a\n") and picture.endswith(b"IEND\xaeB`\x82"))
        # An image editor and an address book each get their form.
        self.assertEqual(self.drag("anna-berg", "public.image,public.vcard", text=False), picture)
        self.drag("anna-berg", "public.movie", status=3)

    def test_a_friend_with_a_number_can_be_called(self):
        self.add_friends()
        called = self.root / "called"
        dialler = self.root / "dialler"
        dialler.write_text(f'#!/bin/sh\necho "$1" >"{called}"\n')
        dialler.chmod(0o755)
        applications = self.root / "share/applications"
        (applications / "dialler.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName=Dialler\nExec={dialler} %u\nMimeType=x-scheme-handler/tel;\n")
        (self.root / "config/mimeapps.list").write_text("[Default Applications]\nx-scheme-handler/tel=dialler.desktop\n")
        self.command("open", self.number("anna-berg"), "--action", "call")
        eventually(lambda: called.exists() and called.read_text().strip(), "nobody was called")
        self.assertEqual(called.read_text().strip(), "tel:+47123")
        self.command("open", self.number("anna-holm"), "--action", "call", status=4)

    def test_friends_rank_by_use(self):
        self.add_friends()
        annas = lambda: [line.split("\t")[0] for line in self.app("find", "anna")]
        for name in ("anna-holm", "anna-berg"):
            other = ({"anna-holm", "anna-berg"} - {name}).pop()
            for _ in range(5 if name == "anna-berg" else 2):
                self.app("write", name)
            with self.subTest(name=name):
                self.assertEqual(annas(), [name, other])
        item = self.json("show", "anna-berg", "--bundle", self.identifier)["attributes"]
        self.assertEqual((item["rankingHint"], item["title"]), (50, "Anna Berg"))
        # The extension donates the same rank.
        self.lose_index()
        self.reindex()
        self.assertEqual(annas(), ["anna-berg", "anna-holm"])

    def test_activities_outlive_their_friend_and_a_reindex(self):
        self.add_friends()
        self.app("call", "anna-berg")
        eventually(lambda: CALL in self.items(), "the call was not donated")
        self.command("open", self.number(CALL))
        self.wait_for_shown("friend anna-berg")
        self.app("remove", "anna-berg")
        self.assertEqual(self.items(), {"anna-holm", "bo-lund", CALL})
        self.reindex()
        self.assertEqual(self.items(), {"anna-holm", "bo-lund", CALL})
        self.command("open", self.number(CALL))
        self.wait_for_shown("no friend anna-berg")
        self.app("forget-calls")
        eventually(lambda: self.items() == {"anna-holm", "bo-lund"}, "the activity stayed")

    def test_the_extension_passes_the_validator(self):
        self.add_friends()
        self.command("extensions", "validate", self.identifier)
