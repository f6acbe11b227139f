# SPDX-License-Identifier: Apache-2.0
"""Pictures as a user has it: as processes, with the bus, the service and the workers of its extension."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import World, eventually, rounds

# Gates that a policy cannot switch off, or that the commands of the test need.
KEPT_GATES = ("inhibited",)
TYPE = "com.example.Pictures.pixel-art"


class Pictures(World):
    folder_name = "Pictures"
    identifier = "com.example.Pictures"

    def draw(self, count, start=0):
        """Files with pictures, by identifier."""
        folder = self.root / "drawn"
        folder.mkdir(exist_ok=True)
        files = []
        for number in range(start, start + count):
            file = folder / f"{number:03}.pxl"
            file.write_text(f"House {number:03}\nA red roof, number{number} in the street\n\n..RR..\n.RRRR.\n.WNNW.\n")
            files.append(file)
        return files

    def items(self):
        return set(self.identifiers("list", "--limit", "1000"))

    @staticmethod
    def names(count):
        return {f"house-{number:03}" for number in range(count)}

    def state(self):
        return self.json("client-state", "--bundle", self.identifier, "--index", "pictures")["text"]

    @rounds
    def test_pictures_survive_a_lost_index_and_continue(self, _):
        files = self.draw(60)
        app = self.open_app()
        app.tell("add " + " ".join(map(str, files)))
        app.wait_for("state 60")
        self.assertEqual(app.close(), 0)
        self.assertEqual(self.items(), self.names(60))
        self.lose_index()
        self.reindex()
        self.check_search_drag_and_open(60)

    def check_search_drag_and_open(self, count):
        self.assertEqual(self.items(), self.names(count))
        self.assertEqual(self.identifiers("search", "number7")[:1], ["house-007"])
        target = self.root / "dropped"
        target.mkdir(exist_ok=True)
        self.command("drag", self.number("house-007"), "--accept", "public.png", "--output", target)
        dropped = list(target.iterdir())
        self.assertEqual([each.suffix for each in dropped], [".png"])
        self.assertTrue(dropped[0].read_bytes().startswith(b"\x89PNG"))
        self.assertEqual(self.json("open", self.number("house-007"))["outcome"], "continued")
        self.wait_for_shown("picture house-007")
        self.command("continue", self.identifier, "number11")
        self.wait_for_shown("search number11: house-011")
        # The extension did only what its manifest declares.
        self.assertNotIn("tried to", self.command("status"))
        self.end_started_app()

    @rounds
    def test_pictures_survive_kills_of_everything(self, random):
        files = self.draw(60)
        for number in range(3):
            # The app is killed between its batches, and the service with it.
            addition = self.start_app("add", *files)
            time.sleep(random.uniform(0.02, 0.8))
            addition.kill()
            addition.process.wait()
            if number == 1:
                self.kill_service()
                self.start_service()
        self.app("add", *files)
        self.assertEqual(self.items(), self.names(60))
        self.lose_index()
        for _ in range(2):
            reindex = self.start("reindex", self.identifier)
            time.sleep(random.uniform(0, 0.8))
            self.kill_service()
            reindex.process.wait()
            self.start_service()
        self.reindex()
        self.check_search_drag_and_open(60)

    def test_only_changes_are_donated_in_batches_with_a_client_state(self):
        lines = self.app("add", *self.draw(45))
        self.assertEqual(lines[1:], ["batch of 20, state 20", "batch of 20, state 40", "batch of 5, state 45"])
        self.assertEqual(self.state(), "45")
        self.assertEqual(self.app("sync"), [])
        self.assertEqual(self.app("add", *self.draw(1, start=45)), ["added 1", "batch of 1, state 46"])
        self.assertEqual(self.app("remove", "house-000"), ["batch of 1, state 47"])
        self.assertEqual(self.items(), self.names(46) - {"house-000"})
        # A lost index has no state, so everything is donated.
        self.lose_index()
        self.assertEqual(self.app("sync")[-1], "batch of 6, state 47")
        self.assertEqual(self.items(), self.names(46) - {"house-000"})

    def test_the_extension_donates_pages_and_the_state(self):
        self.app("add", *self.draw(60))
        self.lose_index()
        self.reindex()
        pages = [line for line in self.app("log") if line.startswith("page")]
        self.assertEqual(pages, ["page of 25", "page of 25", "page of 10"])
        self.assertEqual(self.state(), "60")
        self.assertEqual(self.app("sync"), [])

    def test_a_picture_of_an_own_type_is_a_picture(self):
        self.app("add", *self.draw(2))
        found = self.json("query", 'contentTypeTree == "public.image"')
        self.assertEqual(len(found if isinstance(found, list) else found["items"]), 2)
        self.assertEqual(set(self.identifiers("search", "kind:image house")), {"house-000", "house-001"})
        self.assertIn("public.image", self.command("types", "show", TYPE))
        self.assertEqual([line.split("\t")[0] for line in self.app("find", "number1")], ["house-001"])

    def test_the_original_is_opened_in_place_and_copies_are_copies(self):
        files = self.draw(1)
        self.app("add", *files)
        number = self.number("house-000")
        original = self.data / "pictures/house-000.pxl"
        self.assertEqual(self.command("drag", number, "--accept", TYPE, "--in-place").strip(), str(original))
        copy = self.root / "copy.pxl"
        self.command("drag", number, "--accept", TYPE, "--output", copy)
        self.assertEqual(copy.read_bytes(), original.read_bytes())
        self.assertFalse(copy.samefile(original))
        self.command("drag", number, "--accept", "public.png", "--in-place", status=3)
        self.assertEqual(original.read_bytes(), files[0].read_bytes())

    def test_a_preview_marks_the_words_of_the_search(self):
        self.app("add", *self.draw(1))
        page = self.command("preview", self.number("house-000"), "--query", "red roofs street", "--html")
        self.assertIn("<mark>red</mark>", page)
        self.assertIn("<mark>street</mark>", page)
        self.assertNotIn("<mark>roof", page)
        self.assertIn("<img", page)

    def test_throttling_is_counted_in_the_log(self):
        count = 1000
        pictures = self.data / "pictures"
        pictures.mkdir(parents=True)
        (self.data / "extension").mkdir()
        for file in self.draw(count):
            file.rename(pictures / f"house-{file.stem}.pxl")
        numbers = {f"house-{number:03}": number + 1 for number in range(count)}
        (self.data / "gallery.json").write_text(json.dumps({"lastChange": count, "pictures": numbers, "removed": {}}))
        # The extension works in the background, whatever this machine does.
        policy = json.loads(self.command("schedule", "policy", "--json"))
        gates = {name: False for name in policy["gates"] if name not in KEPT_GATES}
        self.schedule({"pause.shortest": 0, "gates": gates})
        self.lose_index()
        log = lambda: self.app("log")
        eventually(lambda: "page of 25" in log(), "the extension did not start")
        self.command("throttle", self.identifier, "on")
        eventually(lambda: "throttled 1" in log(), "the extension was not throttled")
        self.command("throttle", self.identifier, "off")
        eventually(lambda: "resumed 1" in log(), "the extension did not resume")
        # A reindex of the user continues where the background stopped.
        self.reindex()
        self.assertEqual(self.items(), self.names(count))
        lines = log()
        self.assertLess(lines.index("throttled 1"), lines.index("resumed 1"))

    def test_the_extension_passes_the_validator(self):
        # Before the first picture there is no folder for the log.
        self.command("extensions", "validate", self.identifier)
        self.app("add", *self.draw(200))
        self.command("extensions", "validate", self.identifier)

    def test_a_cancelled_page_keeps_its_worker(self):
        self.app("add", *self.draw(200))
        for _ in range(3):
            lines = self.command("extensions", "validate", self.identifier, "--only", "cancellation").splitlines()
            self.assertEqual(lines[-1], "1 passed.", lines)
