"""One run over one tree."""
import os

from checks import habits
from checks.declarations import requirement_names
from checks.package import check_package
from checks.ratchets import Ratchets
from checks.source import SOURCE_FOLDERS, Source, swift_files


class Check:
    """A package, its files, and the faults found in them. `offered`: the targets of its library products."""

    def __init__(self, root, package):
        self.root = root
        self.targets = {target["name"]: target for target in package["targets"]}
        self.offered = sorted({name for product in package.get("products", []) if "library" in product["type"]
                               for name in product["targets"]})
        self.sources = [Source(root, path) for folder in SOURCE_FOLDERS for path in swift_files(os.path.join(root, folder))]
        self.requirements = requirement_names(self.sources)
        self.ratchets = Ratchets(root)
        self.faults = []

    def run(self):
        check_package(self)
        habits.check_sizes(self)
        habits.check_functions(self)
        habits.check_shell_scripts(self)
        habits.check_widths(self)
        habits.check_proofs(self)
        habits.check_documentation(self)
        habits.check_randomness(self)
        habits.check_snippets(self)
        return self.faults

    def fault(self, path, line, text):
        place = os.path.relpath(os.path.join(self.root, path), self.root) + (f":{line}" if line else "")
        self.faults.append(f"{place}: {text}")
