# SPDX-License-Identifier: Apache-2.0
"""The Journal app as a user has it: as processes, with the bus, the service and the workers of the extension Journal."""

import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from model import write_model
from world import World, eventually, rounds


class Journal(World):
    folder_name = "JournalApp"
    identifier = "com.searchlight.journal"

    def setUp(self):
        super().setUp()
        self.notes = self.root / "notes"
        self.notes.mkdir()
        settings = self.root / "config" / self.identifier / "folders"
        settings.parent.mkdir(parents=True)
        settings.write_text(f"{self.notes}\n")

    def write(self, app):
        for title, text in (("Ferry to Oslo", "The ferry leaves at eight."), ("Ferries", "They are white."),
                            ("Garden", "Tulips in autumn.")):
            app.tell(f"write {title} --text {text.split()[0]}")
            app.wait_for(f"wrote {self.path(title)}")

    def path(self, title):
        return str(self.notes / (title.lower().replace(" ", "-") + ".md"))

    def items(self):
        return set(self.identifiers("list"))

    @property
    def all(self):
        return {self.path(title) for title in ("Ferry to Oslo", "Ferries", "Garden")}

    @rounds
    def test_notes_survive_a_lost_index_and_continue(self, _):
        app = self.open_app()
        self.write(app)
        eventually(lambda: self.items() == self.all, "the notes were not donated")
        self.assertEqual(app.close(), 0)
        self.lose_index()
        self.reindex()
        self.check_search_drag_and_open()

    def check_search_drag_and_open(self):
        self.assertEqual(self.items(), self.all)
        garden = self.path("Garden")
        self.assertEqual(self.identifiers("search", "tulips"), [garden])
        page = self.command("drag", self.number(garden), "--accept", "public.html", "--output", "-")
        self.assertIn("<h1>Garden</h1>", page)
        self.assertEqual(self.json("open", self.number(garden))["outcome"], "continued")
        self.wait_for_shown(f"note {garden}")
        self.command("continue", self.identifier, "ferry")
        self.wait_for_shown("search ferry: 2")
        # The extension did only what its manifest declares.
        self.assertNotIn("tried to", self.command("status"))
        self.end_started_app()

    @rounds
    def test_notes_survive_kills_of_everything(self, random):
        app = self.open_app()
        self.write(app)
        app.tell("write Lost --text note")
        time.sleep(random.uniform(0, 0.2))
        app.kill()
        app.process.wait()
        (self.notes / "lost.md").unlink(missing_ok=True)
        for _ in range(2):
            reindex = self.start("reindex", self.identifier)
            time.sleep(random.uniform(0, 0.6))
            self.kill_service()
            reindex.process.wait()
            self.start_service()
        self.lose_index()
        self.reindex()
        self.check_search_drag_and_open()

    def test_a_search_has_ranked_results_and_suggestions_that_complete_it(self):
        app = self.open_app()
        self.write(app)
        app.tell("search fer")
        app.wait_for("2 results")
        suggestions = [line for line in app.lines if line.startswith("? ")]
        self.assertTrue(any("ferr" in line.lower() for line in suggestions), app.lines)
        seen = len(app.lines)
        number = next(line.split()[1] for line in suggestions if "oslo" in line.lower() or "ferry" in line.lower())
        app.tell(f"complete {number}")
        app.wait_for("results", after=seen)
        self.assertIn("1 Ferry to Oslo", app.lines[seen:])
        self.assertEqual(app.close(), 0)

    def test_viewed_results_rank_higher(self):
        app = self.open_app()
        self.write(app)
        app.tell("search ferr")
        app.wait_for("2 results")
        first = [line for line in app.lines if line.startswith(("1 ", "2 "))]
        loser = first[1][2:]
        for _ in range(3):
            seen = len(app.lines)
            app.tell("search ferr")
            app.wait_for("results", after=seen)
            place = next(line[0] for line in app.lines[seen:] if line[2:] == loser)
            app.tell(f"view {place}")
            app.wait_for(f"# {loser}", after=seen)
        eventually(lambda: "3" in self.command("history"), "the use was not counted")
        seen = len(app.lines)
        app.tell("search ferr")
        app.wait_for("results", after=seen)
        self.assertIn(f"1 {loser}", app.lines[seen:])

    def test_the_open_app_answers_and_the_extension_after_it(self):
        app = self.open_app()
        self.write(app)
        garden = self.path("Garden")
        seen = len(app.lines)
        expected = self.command("drag", self.number(garden), "--accept", "public.html", "--output", "-")
        app.wait_for("The app delivers public.html.", after=seen)
        self.reindex()
        app.wait_for("The app donates all notes.", after=seen)
        self.assertEqual(self.items(), self.all)
        # An opened item goes to the open app.
        self.command("open", self.number(garden))
        app.wait_for("# Garden", after=seen)
        self.assertEqual(app.close(), 0)
        answer = self.command("drag", self.number(garden), "--accept", "public.html", "--output", "-")
        self.assertEqual(answer, expected)

    def test_a_question_finds_notes_of_the_same_meaning_unless_it_is_limited_to_words(self):
        words = [first + second for first in ("ka", "ri", "to", "mo", "ne") for second in ("ban", "chi", "rem", "qua", "fir")]
        write_model(self.root / "model", words, [("mirror", "glass"), ("harbour", "port"), ("lantern", "lamp")])
        generator = random.Random(3)
        for number in range(40):
            text = "mirror harbour lantern" if number == 9 else " ".join(generator.sample(words, 3))
            (self.notes / f"{number}.txt").write_text(text + "\n")
        self.reindex()
        self.command("semantic", "install", self.root / "model")
        self.command("semantic", "build")
        app = self.open_app()
        app.tell("search glass port lamp")
        app.wait_for("1 results")
        self.assertIn("1 mirror harbour lantern", app.lines)
        app.tell("search glass port lamp --words-only")
        app.wait_for("0 results")
