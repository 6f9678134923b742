"""The one small table of numbers that may only go down: Tools/checks/ratchets.json. Each counts what the rules do not
allow and the tree still has. More is a fault; fewer asks for the table to be tightened (Tools/check --tighten)."""
import json
import os

TABLE = os.path.join("Tools", "checks", "ratchets.json")
# How many of what is too many are listed.
SHOWN = 40


class Ratchets:
    def __init__(self, root):
        self.path = os.path.join(root, TABLE)
        self.table = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.table = json.load(file)
        self.counted = {}

    def judge(self, check, name, places):
        """`places` are (path, line, text) of everything that `name` counts."""
        allowed = self.table.get(name, 0)
        self.counted[name] = len(places)
        if len(places) > allowed:
            for path, line, text in places[:SHOWN]:
                check.fault(path, line, text)
            if allowed or len(places) > SHOWN:
                check.fault(TABLE, 0, f"'{name}' counts {len(places)}, and the table allows {allowed}: one of these is new")
        elif len(places) < allowed:
            check.fault(TABLE, 0, f"'{name}' counts {len(places)}, and the table still allows {allowed}: run Tools/check --tighten")

    def tighten(self):
        """Takes over what got better, and forgets what counts nothing; what got worse stays as it was."""
        table = {name: min(count, self.table.get(name, 0)) for name, count in self.counted.items()}
        table = {name: count for name, count in sorted(table.items()) if count}
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(table, file, indent=2)
            file.write("\n")
