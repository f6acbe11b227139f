# SPDX-License-Identifier: Apache-2.0
"""A user's machine for a test: an installed example app, a session bus, the service, and the commands."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60.0
# The exit status of a command that got no answer in time.
TIMED_OUT = 6
# The number of rounds of each journey. The tests of CI do one.
ROUNDS = int(os.environ.get("EXAMPLES_ROUNDS", "1"))
# The seed of the random moments of kills.
SEED = int(os.environ.get("EXAMPLES_SEED", "34"))


def built(name):
    """A built file. BUILT names another folder than .build/debug."""
    return pathlib.Path(os.environ.get("BUILT", ROOT / ".build" / "debug")) / name


def eventually(check, message, patience=PATIENCE):
    """The first true result of a check that is repeated. The message may be a function."""
    end = time.monotonic() + patience
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"{message() if callable(message) else message} within {patience} s")
        time.sleep(0.03)


class Program:
    """A running program, whose lines of output are kept."""

    def __init__(self, arguments, environment, **options):
        self.arguments = [str(each) for each in arguments]
        self.process = subprocess.Popen(
            self.arguments, env=environment, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, **options)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_for(self, text, after=0):
        """Waits for a line with the text, and returns it."""
        def find():
            found = [line for line in self.lines[after:] if text in line]
            if not found and self.process.poll() is not None:
                self.reader.join(5)
                found = [line for line in self.lines[after:] if text in line]
                if not found:
                    raise AssertionError(f"{self.arguments} ended with {self.process.poll()}: {self.lines}")
            return found and found[0]
        return eventually(find, lambda: f"{self.arguments} printed no “{text}”, only {self.lines[-20:]},")

    def kill(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def close(self):
        """Closes the input, as a user closes a terminal, and waits for the end."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def end(self):
        self.kill(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
        self.reader.join(5)
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.stdout.close()


class World(unittest.TestCase):
    """A test case with a machine of its own. A subclass names its app."""

    folder_name = None
    identifier = None

    def setUp(self):
        # Short, because a socket's path has at most 107 bytes.
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="examples-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.store = self.root / "store"
        self.environment = {
            name: value for name, value in os.environ.items() if name in ("LD_LIBRARY_PATH", "TMPDIR", "LANG")}
        for name in ("run", "config", "state", "cache"):
            (self.root / name).mkdir(mode=0o700)
        self.environment.update(
            PATH=f"{self.root}/bin:/usr/bin:/bin", HOME=str(self.root), XDG_RUNTIME_DIR=str(self.root / "run"),
            XDG_DATA_HOME=str(self.root / "share"), XDG_DATA_DIRS=str(self.root / "none"),
            XDG_CONFIG_HOME=str(self.root / "config"), XDG_STATE_HOME=str(self.root / "state"),
            XDG_CACHE_HOME=str(self.root / "cache"), SEARCHLIGHT_STORE=str(self.store), LC_ALL="C.UTF-8")
        self.data = self.root / "share" / self.identifier
        # The service must not begin a reindex of its own, as it does on an idle machine. So it waits
        # for a processor without work, and for a terabyte of free space.
        policy = {f"disk-floor.{edge}": 1 << 40 for edge in ("closes", "opens")}
        self.schedule({**policy, "cpu-busy.closes": 0.01, "cpu-busy.opens": 0.01})
        self.prepare()
        self.install()
        self.bus = Program(
            ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1",
             f"--address=unix:path={self.root}/bus"], self.environment)
        self.addCleanup(self.bus.end)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.wait_for("unix:")
        # Programs that the bus starts have its environment.
        subprocess.run(
            ["dbus-update-activation-environment", "--all"], env=self.environment, check=True, capture_output=True)
        self.service = None
        self.start_service()

    def prepare(self):
        """Changes the environment before any program runs. A test with a screen starts the screen here."""

    def install(self, *folders):
        for folder in folders or (self.folder_name,):
            subprocess.run(
                [ROOT / "Examples/install", folder, self.root], check=True, capture_output=True,
                env={**self.environment, "BUILT": str(built(""))})

    # The service

    def schedule(self, policy):
        """Sets the policy of the background work, for the next start of the service."""
        file = self.root / "policy.json"
        file.write_text(json.dumps(policy))
        self.environment["SEARCHLIGHT_SCHEDULING"] = str(file)

    def start_service(self):
        self.service = Program([built("searchlightd"), "--store", self.store], self.environment)
        self.addCleanup(self.service.end)
        self.service.wait_for("Listening on")

    def kill_service(self):
        self.service.kill()
        self.service.process.wait()

    def lose_index(self):
        """Kills the service and removes the index, as a broken disk does."""
        self.kill_service()
        shutil.rmtree(self.store)
        self.start_service()

    # The commands

    def run_program(self, *arguments, status=0, text=True):
        end = time.monotonic() + PATIENCE
        while True:
            done = subprocess.run(
                [str(each) for each in arguments], env=self.environment, capture_output=True, timeout=180, text=text)
            # On a machine with a high load, the service may not get a processor for some seconds.
            late = done.returncode == TIMED_OUT != status and "did not answer within" in f"{done.stdout}{done.stderr}"
            if not late or time.monotonic() > end:
                break
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout!r} {done.stderr!r}")
        return done.stdout

    def command(self, *arguments, **options):
        return self.run_program(built("searchlight"), *arguments, **options)

    def json(self, *arguments, status=0):
        return json.loads(self.command(*arguments, "--json", status=status))

    def identifiers(self, *arguments):
        """The identifiers of items that “list” or “search” prints."""
        found = self.json(*arguments, "--bundle", self.identifier)
        return [item["uniqueIdentifier"] for item in (found if isinstance(found, list) else found["items"])]

    def number(self, identifier):
        """The number of an item of the app."""
        return f"@{self.json('show', identifier, '--bundle', self.identifier)['number']}"

    def reindex(self):
        self.command("reindex", self.identifier)

    # The app

    def app(self, *arguments, status=0):
        """Runs a command of the app to its end, and returns its lines."""
        return self.run_program(self.program, *arguments, status=status).splitlines()

    @property
    def program(self):
        return next((self.root / "bin").iterdir())

    def start(self, *arguments):
        """Starts a command without waiting for its end."""
        started = Program([built("searchlight"), *arguments], self.environment)
        self.addCleanup(started.end)
        return started

    def start_app(self, *arguments):
        """Starts a command of the app without waiting for its end."""
        started = Program([self.program, *arguments], self.environment)
        self.addCleanup(started.end)
        return started

    def open_app(self):
        started = Program([self.program], self.environment)
        self.addCleanup(started.end)
        started.wait_for("ready")
        return started

    def shown(self):
        """The lines that the app showed, even if the bus started it."""
        file = self.data / "shown.json"
        return json.loads(file.read_text()) if file.exists() else []

    def wait_for_shown(self, line, count=1):
        eventually(lambda: self.shown().count(line) >= count, lambda: f"the app did not show “{line}”, only {self.shown()},")

    def end_started_app(self):
        """Ends the app that the bus started."""
        call = ["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus"]
        done = subprocess.run(
            [*call, "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", self.identifier],
            env=self.environment, capture_output=True, text=True)
        if done.returncode == 0:
            os.kill(int(done.stdout.split()[1].rstrip(",)")), signal.SIGTERM)
            eventually(
                lambda: "false" in subprocess.run(
                    [*call, "--method", "org.freedesktop.DBus.NameHasOwner", self.identifier], env=self.environment,
                    capture_output=True, text=True).stdout, "the app did not end")

    def tearDown(self):
        self.end_started_app()


def rounds(journey):
    """Repeats a test EXAMPLES_ROUNDS times, each with a random generator and a new machine."""
    def repeated(self):
        for number in range(ROUNDS):
            if number:
                self.tearDown()
                self.doCleanups()
                self.setUp()
            with self.subTest(round=number):
                journey(self, random.Random(SEED * 1000 + number))
    repeated.__name__ = journey.__name__
    repeated.__doc__ = journey.__doc__
    return repeated
