# SPDX-License-Identifier: Apache-2.0
"""A Flatpak installation of its own for a test: a runtime made of a few programs of this machine, and apps, without a network."""

import ctypes
import os
import pathlib
import platform
import re
import shutil
import subprocess

NEEDS = ["flatpak", "ostree", "bwrap", "ldd"]
RUNTIME = "com.example.Platform"
BRANCH = "stable"
ARCHITECTURE = {"x86_64": "x86_64", "aarch64": "aarch64"}.get(platform.machine(), platform.machine())
# The programs of this machine in each runtime. ldconfig makes the cache of libraries in each sandbox.
PROGRAMS = ["/bin/dash", "/bin/cat", "/bin/ls", "/bin/sleep", "/usr/bin/env", "/usr/bin/readlink", "/usr/bin/gdbus"]
SETTINGS = "/usr/share/glib-2.0/schemas/gschemas.compiled"


def own_runtime_folder():
    """Gives this process a folder /run/user/UID of its own, since Flatpak supports no other path. Returns a problem, or nothing."""
    new_mounts, new_users, private = 0x20000, 0x10000000, 1 << 18 | 1 << 14
    user, group = os.getuid(), os.getgid()
    system = ctypes.CDLL(None, use_errno=True)
    if system.unshare(new_mounts | (new_users if user else 0)):
        return f"no mount namespace: {os.strerror(ctypes.get_errno())}"
    if user:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            pathlib.Path("/proc/self", name).write_text(text)
    folder = f"/run/user/{user}"
    system.mount(None, b"/", None, private, None)
    if not os.path.isdir(folder):
        if system.mount(b"tmpfs", b"/run", b"tmpfs", 0, None):
            return f"no mount at /run: {os.strerror(ctypes.get_errno())}"
        os.makedirs(folder)
    if system.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, b"mode=0700"):
        return f"no mount at {folder}: {os.strerror(ctypes.get_errno())}"
    return None


def libraries(*files):
    """The paths of the shared libraries that programs and libraries load."""
    found = {}
    for file in files:
        done = subprocess.run(["ldd", str(file)], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            match = re.match(r"\s*(?:(\S+) => )?(/\S+) \(0x", line)
            if match:
                name = match[1] or match[2]
                found[pathlib.Path(name).name] = pathlib.Path(match[2])
    return found


class Flatpaks:
    """The installation of a user, below their home folder."""

    def __init__(self, folder, environment):
        self.folder = pathlib.Path(folder) / "flatpak-build"
        self.folder.mkdir()
        self.environment = environment
        self.repository = self.folder / "repository"
        self.data = pathlib.Path(environment["XDG_DATA_HOME"])
        # Desktops add this folder to the variable at the login (/etc/profile.d/flatpak.sh).
        self.exports = self.data / "flatpak/exports/share"
        self.run("flatpak", "remote-add", "--user", "--if-not-exists", "--no-gpg-verify", "tests",
                 self.make_repository().as_uri())

    def make_repository(self):
        self.repository.mkdir()
        self.run("ostree", f"--repo={self.repository}", "init", "--mode=bare-user-only")
        self.run("ostree", f"--repo={self.repository}", "summary", "-u")
        return self.repository

    def run(self, *arguments):
        done = subprocess.run(
            [str(each) for each in arguments], env=self.environment, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise AssertionError(f"{arguments}: {done.stdout} {done.stderr}")
        return done.stdout

    def install_runtime(self, *programs, files={}):
        """Installs a runtime with programs and their libraries. Files are named by their path below /usr."""
        tree = self.folder / "runtime"
        usr = tree / "usr"
        for name in ("bin", "sbin", "lib64", "etc", "share", f"lib/{ARCHITECTURE}-linux-gnu"):
            (usr / name).mkdir(parents=True)
        (usr / "share/runtime").mkdir()
        # The folders of a tree that “flatpak build-init” has made.
        for name in ("files", "var"):
            (tree / name).mkdir()
        all_programs = [pathlib.Path(each) for each in [*PROGRAMS, *programs]]
        for program in all_programs:
            shutil.copy2(program.resolve(), usr / "bin" / program.name)
        (usr / "bin/sh").symlink_to("dash")
        shutil.copy2("/sbin/ldconfig", usr / "sbin/ldconfig")
        (usr / "etc/ld.so.conf").write_text(f"/usr/lib/{ARCHITECTURE}-linux-gnu\n")
        for name, file in files.items():
            (usr / name).parent.mkdir(parents=True, exist_ok=True)
            if pathlib.Path(file).is_dir():
                shutil.copytree(file, usr / name, dirs_exist_ok=True)
            else:
                shutil.copy2(file, usr / name)
        for name, library in libraries(*all_programs, *[each for each in files.values() if ".so" in str(each)]).items():
            target = usr / ("lib64" if name.startswith("ld-linux") else f"lib/{ARCHITECTURE}-linux-gnu") / name
            if not target.exists():
                shutil.copy2(library.resolve(), target)
        (tree / "metadata").write_text(
            f"[Runtime]\nname={RUNTIME}\nruntime={RUNTIME}/{ARCHITECTURE}/{BRANCH}\nsdk={RUNTIME}/{ARCHITECTURE}/{BRANCH}\n")
        self.export(tree, RUNTIME, "--runtime")

    def install_app(self, identifier, entry, files={}, texts={}, permissions=(), service=None):
        """Installs an app. Its files are named by their path below /app. The entry is the group of its desktop file."""
        tree = self.folder / identifier
        shutil.rmtree(tree, ignore_errors=True)
        app = tree / "files"
        (app / "bin").mkdir(parents=True)
        (tree / "var").mkdir()
        for name, file in files.items():
            (app / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(pathlib.Path(file).resolve(), app / name)
        for name, text in texts.items():
            (app / name).parent.mkdir(parents=True, exist_ok=True)
            (app / name).write_text(text)
            (app / name).chmod(0o755)
        (app / "share/applications").mkdir(parents=True)
        (app / f"share/applications/{identifier}.desktop").write_text(f"[Desktop Entry]\nType=Application\n{entry}")
        if service:
            (app / "share/dbus-1/services").mkdir(parents=True)
            (app / f"share/dbus-1/services/{identifier}.service").write_text(
                f"[D-BUS Service]\nName={identifier}\nExec={service}\n")
        runtime = f"{RUNTIME}/{ARCHITECTURE}/{BRANCH}"
        (tree / "metadata").write_text(f"[Application]\nname={identifier}\nruntime={runtime}\nsdk={runtime}\n")
        command = re.search(r"^Exec=(\S+)", entry, re.M)[1]
        self.run("flatpak", "build-finish", f"--command={command}", *permissions, tree)
        self.export(tree, identifier)

    def export(self, tree, identifier, *options):
        self.run("flatpak", "build-export", "--disable-sandbox", *options, self.repository, tree, BRANCH)
        self.run("flatpak", "install", "--user", "--noninteractive", "--assumeyes", "--no-related", "--or-update", "tests", identifier)

    def end(self):
        """Unmounts the document portal. The session ends the programs in the sandboxes. (“flatpak kill” would end this process too,
        if a sandbox did not start: it then sends the signal to process 0.)"""
        documents = f"{self.environment['XDG_RUNTIME_DIR']}/doc"
        if os.path.ismount(documents):
            subprocess.run(["fusermount3", "-u", "-z", documents], capture_output=True)
