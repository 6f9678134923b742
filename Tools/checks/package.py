"""The manifest, the ranks of the modules, and the imports between them."""
import json
import os
import re
import subprocess
import sys
import tempfile

from checks.source import swift_files, blanked

# The one table of ranks is under "Layers" in this file; a target may import targets of a strictly lower rank.
RANKS_FILE = os.path.join("Docs", "Architecture.md")
RANK_ROW = re.compile(r"^\|\s*(\d+)\s*\|([^|]*)\|")

IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|var|let|actor)\s+)?`?(\w+)")


def manifest(root):
    """The manifest as SwiftPM reads it. Its own scratch folder: a build may be running. No cache: the list of
    targets depends on which folders exist."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["swift", "package", "--package-path", root, "--scratch-path", scratch,
                   "--manifest-cache", "none", "dump-package"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("check: the manifest cannot be read:\n" + done.stderr.strip())
    return json.loads(done.stdout)


def read_ranks(root):
    """Each module's rank, as the table says it; programs are named there by their folder."""
    ranks = {}
    path = os.path.join(root, RANKS_FILE)
    if not os.path.exists(path):
        return ranks
    with open(path, encoding="utf-8") as file:
        for line in file:
            if match := RANK_ROW.match(line):
                for name in re.findall(r"`([^`]+)`", match.group(2)):
                    ranks[os.path.basename(name)] = int(match.group(1))
    return ranks


def declared_dependencies(target):
    names = set()
    for dependency in target["dependencies"]:
        for kind in ("byName", "target"):
            if kind in dependency:
                names.add(dependency[kind][0])
    return names


def is_test(target):
    return target["type"] == "test" or (target.get("path") or "").startswith("Tests/")


def check_package(check):
    ranks = read_ranks(check.root)
    modules = {name.replace("-", "_"): name for name in check.targets}
    for name, target in check.targets.items():
        Imports(check, ranks, modules, name, target).check()
    for name in sorted(ranks.keys() - check.targets.keys()):
        check.fault(RANKS_FILE, 0, f"the table of ranks names '{name}', which is no target")
    check_manifest_comments(check, ranks)


class Imports:
    """What one target declares and imports."""

    def __init__(self, check, ranks, modules, name, target):
        self.check_run, self.ranks, self.modules, self.name, self.target = check, ranks, modules, name, target

    def check(self):
        check, name, target = self.check_run, self.name, self.target
        ranked = not is_test(target)
        if ranked and name not in self.ranks:
            check.fault("Package.swift", 0, f"target '{name}' has no rank: give it one in the table of {RANKS_FILE}")
        declared = declared_dependencies(target)
        for dependency in sorted(declared & check.targets.keys()):
            if ranked:
                self.check_step("Package.swift", 0, dependency, "declares")
        folder = os.path.join(check.root, target.get("path") or os.path.join("Sources", name))
        for path in swift_files(folder):
            with open(path, encoding="utf-8") as file:
                lines, _ = blanked(file.read())
            for number, line in enumerate(lines, 1):
                match = IMPORT.match(line)
                imported = self.modules.get(match.group(1)) if match else None
                if imported is None or imported == name:
                    continue
                if imported not in declared:
                    check.fault(path, number, f"'{name}' imports '{imported}' but does not declare it in Package.swift")
                if ranked:
                    self.check_step(path, number, imported, "imports")

    def check_step(self, path, line, other, verb):
        check, name, ranks = self.check_run, self.name, self.ranks
        other_target = check.targets[other]
        if is_test(other_target):
            check.fault(path, line, f"'{name}' {verb} '{other}', which is for tests only")
        elif other_target["type"] == "macro":
            # A plug-in of the compiler: depended on to be built first, never linked.
            if verb == "imports":
                check.fault(path, line, f"'{name}' imports the macro plug-in '{other}'")
        elif self.target["type"] == "macro" and not self.is_of_macros(other):
            check.fault(path, line, f"the macro plug-in '{name}' {verb} '{other}': it runs in the compiler and stands alone")
        elif name in ranks and other in ranks and ranks[other] >= ranks[name]:
            way = "sideways" if ranks[other] == ranks[name] else "up"
            check.fault(path, line, f"'{name}' (rank {ranks[name]}) {verb} '{other}' (rank {ranks[other]}): {way}, not down")

    def is_of_macros(self, other):
        """Whether a library belongs to plug-ins alone: it needs nothing of ours, and only they and tests need it."""
        targets = self.check_run.targets
        if declared_dependencies(targets[other]) & targets.keys():
            return False
        return all(target["type"] == "macro" or is_test(target) or other not in declared_dependencies(target)
                   for target in targets.values())


def check_manifest_comments(check, ranks):
    """A comment '// Rank 3 to 5: …' in the manifest speaks of the targets from there to the next comment."""
    path = os.path.join(check.root, "Package.swift")
    if not os.path.exists(path):
        return
    low = high = None
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in re.finditer(r'^\s*//(.*)$|\bRoom\.\w+\(\s*"([^"]+)"', text, re.MULTILINE):
        comment, name = match.groups()
        if comment is not None:
            said = re.match(r" Ranks? (\d+)(?: (?:to|and) (\d+))?:", comment)
            low, high = (int(said.group(1)), int(said.group(2) or said.group(1))) if said else (None, None)
        elif low is not None and name in ranks and not low <= ranks[name] <= high:
            line = text.count("\n", 0, match.start(2)) + 1
            check.fault(path, line, f"'{name}' has rank {ranks[name]}, and stands under a comment that says {low} to {high}")
