"""Source files: their text, and the same with comments and the insides of strings blanked."""
import bisect
import functools
import os
import re

SOURCE_FOLDERS = ("Modules", "Tools", "Tests")


def blanked(text):
    """The Swift source with comments and the insides of string literals replaced by spaces, line by line, and
    the numbers (from 0) of the lines that have a comment. Code in an interpolation is blanked as well."""
    out = []
    comments = set()
    token = re.compile(r'//|/\*|#*"""|#*"|\n')
    position, line = 0, 0

    def keep(upto):
        nonlocal position
        out.append(text[position:upto])
        position = upto

    def blank(upto):
        nonlocal position, line
        piece = text[position:upto]
        line += piece.count("\n")
        out.append(re.sub(r"[^\n]", " ", piece))
        position = upto

    while True:
        match = token.search(text, position)
        if not match:
            keep(len(text))
            return "".join(out).split("\n"), comments
        keep(match.start())
        found = match.group()
        if found == "\n":
            line += 1
            keep(match.end())
        elif found == "//":
            comments.add(line)
            end = text.find("\n", position)
            blank(len(text) if end < 0 else end)
        elif found == "/*":
            first = line
            blank(end_of_block_comment(text, position))
            comments.update(range(first, line + 1))
        else:
            blank(end_of_string(text, position, found))


def end_of_block_comment(text, start):
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)


def end_of_string(text, start, opening):
    hashes = opening.count("#")
    quote = opening[hashes:]
    escape = "\\" + "#" * hashes
    closing = quote + "#" * hashes
    position = start + len(opening)
    while position < len(text):
        if text.startswith(closing, position):
            return position + len(closing)
        if text.startswith(escape, position):
            position += len(escape)
            position = end_of_interpolation(text, position) if text.startswith("(", position) else position + 1
        elif quote == '"' and text[position] == "\n":
            return position  # not closed on its line: not valid Swift, so go on as code
        else:
            position += 1
    return position


def end_of_interpolation(text, start):
    depth, position = 0, start
    while position < len(text):
        if text[position] == "(":
            depth += 1
        elif text[position] == ")":
            depth -= 1
            if depth == 0:
                return position + 1
        elif match := re.compile(r'#*"""|#*"').match(text, position):
            position = end_of_string(text, position, match.group())
            continue
        position += 1
    return position


def files(folder, *endings):
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__pycache__")
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.join(directory, name)


def swift_files(folder):
    return files(folder, ".swift")


class Source:
    """One Swift file. What costs time is worked out when it is first asked for."""

    def __init__(self, root, path):
        self.path = path
        self.name = os.path.relpath(path, root)
        self.folder = self.name.split(os.sep)[0]
        with open(path, encoding="utf-8") as file:
            self.text = file.read()

    @functools.cached_property
    def _blanked(self):
        return blanked(self.text)

    @property
    def lines(self):
        """The code, line by line."""
        return self._blanked[0]

    @property
    def comments(self):
        """The numbers, from 0, of the lines that have a comment."""
        return self._blanked[1]

    @functools.cached_property
    def texts(self):
        """The file as it is, line by line."""
        return self.text.split("\n")

    @functools.cached_property
    def code(self):
        return "\n".join(self.lines)

    @property
    def line_count(self):
        return self.text.count("\n") + (0 if self.text.endswith("\n") or not self.text else 1)

    @functools.cached_property
    def line_starts(self):
        return [0] + [match.end() for match in re.finditer("\n", self.code)]

    def line_of(self, position):
        """The number, from 0, of the line that a position of the code is in."""
        return bisect.bisect_right(self.line_starts, position) - 1


def closing(code, start):
    """The position after the bracket that closes the one at `start`."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    opening = code[start]
    depth = 0
    for match in re.compile("[" + re.escape(opening + pairs[opening]) + "]").finditer(code, start):
        depth += 1 if match.group() == opening else -1
        if depth == 0:
            return match.end()
    return len(code)
