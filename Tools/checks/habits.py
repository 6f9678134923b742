"""The habits of the code: sizes, widths, proofs beside shortcuts, documented declarations, seeded randomness, and code in
the pages that some test compiles."""
import ast
import os
import re
import subprocess

from checks.declarations import functions, public_declarations, types
from checks.source import closing, files

LINES_MAX = 500
TEST_LINES_MAX = 800
FUNCTION_MAX = 70
WIDTH_MAX = 140

SHORTCUTS = re.compile(
    r"\bfatalError\b|\bpreconditionFailure\b|\bprecondition\(|\btry!|\bas!|@unchecked\s+Sendable\b|\bnonisolated\(unsafe\)"
    r"|\bunsafelyUnwrapped\b|@exclusivity\(unchecked\)|\bunowned\(unsafe\)|\bunsafeDowncast\b|\bunsafeBitCast\b"
    r"|(?<=[\w)\]}])!(?![=\w])")
# How far above a shortcut, or a run of lines that each have one, the explanation may stand.
EXPLANATION_REACH = 3

# Randomness with a generator of the language's own cannot be had again.
RANDOM_CALL = re.compile(r"\.(random|randomElement|shuffled|shuffle)\s*\(")
UNSEEDED = re.compile(r"\bSystemRandomNumberGenerator\b|\barc4random\w*|\bdrand48\b|(?<![.\w])rand\(\)|\bgetrandom\(")
SEED_SOURCE = os.path.join("Tests", "VivariumTestSupport", "SeededGenerator.swift")


def check_sizes(check):
    for source in check.sources:
        limit = TEST_LINES_MAX if source.folder == "Tests" else LINES_MAX
        if source.line_count > limit:
            check.fault(source.path, 0, f"{source.line_count} lines; at most {limit}: split it by type or facet")


def check_functions(check):
    for folder in ("Modules", "Tests", "Tools"):
        long = [(source.path, first + 1, f"'{name}' has {count} lines; at most {FUNCTION_MAX}")
                for source in check.sources if source.folder == folder
                for name, first, count in functions(source) if count > FUNCTION_MAX]
        if folder == "Tools":
            long += long_python_functions(check.root)
        check.ratchets.judge(check, f"long functions in {folder}", long)


def long_python_functions(root):
    for path in scripts(root):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if not path.endswith(".py") and not text.startswith("#!/usr/bin/env python3"):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno + 1 > FUNCTION_MAX:
                yield path, node.lineno, f"'{node.name}' has {node.end_lineno - node.lineno + 1} lines; at most {FUNCTION_MAX}"


def scripts(root):
    """The programs of Tools, and the CI's, that are not Swift."""
    yield from files(os.path.join(root, "Tools", "checks"), ".py")
    for folder in ("Tools", ".ci"):
        directory = os.path.join(root, folder)
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
            path = os.path.join(directory, name)
            if os.path.isfile(path) and not name.startswith("."):
                yield path


def check_shell_scripts(check):
    """A script that a shell cannot read fails only when somebody runs it."""
    for path in scripts(check.root):
        with open(path, encoding="utf-8") as file:
            if not re.match(r"#!.*\b(ba)?sh\b", file.readline()):
                continue
        found = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
        if found.returncode != 0:
            check.fault(path, 0, "no shell can read it: " + found.stderr.strip().split("\n")[0])


def check_widths(check):
    wide = {folder: [] for folder in ("Modules", "Tests", "Tools")}
    for source in check.sources:
        wide[source.folder] += wide_lines(source.path, source.text)
    for path in scripts(check.root):
        with open(path, encoding="utf-8") as file:
            wide["Tools"] += wide_lines(path, file.read())
    for folder, places in wide.items():
        check.ratchets.judge(check, f"wide lines in {folder}", places)


def wide_lines(path, text):
    return [(path, number, f"{len(line)} characters wide; at most {WIDTH_MAX}")
            for number, line in enumerate(text.split("\n"), 1) if len(line) > WIDTH_MAX]


def check_proofs(check):
    bare = []
    for source in check.sources:
        if source.folder == "Modules" and SHORTCUTS.search(source.text):
            bare += unproved(source)
    check.ratchets.judge(check, "unproved shortcuts", bare)


def unproved(source):
    for number, line in enumerate(source.lines):
        match = SHORTCUTS.search(line)
        if not match:
            continue
        first = number
        while first > 0 and SHORTCUTS.search(source.lines[first - 1]):
            first -= 1
        near = range(first - EXPLANATION_REACH, number + 1)
        if not any(n in source.comments for n in near) and not type_explains(source, number, match.group()):
            yield (source.path, number + 1,
                   f"'{named(match, line)}' without a comment, there or just above, that proves it is safe")


def type_explains(source, number, shortcut):
    """Whether the comment on the type round a line names the shortcut: what holds for all of its variables is said once."""
    around = [body for body in types(source) if body.line < number < body.line + body.line_count]
    if not around or not shortcut.startswith("@"):
        return False
    line = max(around, key=lambda body: body.line).line - 1
    while line >= 0 and (line in source.comments or source.lines[line].strip().startswith("@")):
        if shortcut in source.texts[line]:
            return True
        line -= 1
    return False


def named(match, line):
    if match.group() != "!":
        return match.group()
    return re.search(r"[\w.]*.$", line[:match.start()]).group() + "!"


def check_documentation(check):
    for name in check.offered:
        bare = [(declaration.source.path, declaration.line + 1, f"public {declaration.kind} '{declaration.name}' has no documentation")
                for declaration in offered_declarations(check, name) if not declaration.is_documented]
        check.ratchets.judge(check, f"undocumented in {name}", bare)


def offered_declarations(check, name):
    folder = check.targets[name]["path"] + os.sep
    return [declaration for source in check.sources if source.name.startswith(folder)
            for declaration in public_declarations(source, check.requirements)]


def check_randomness(check):
    for source in check.sources:
        if source.folder != "Tests" or source.name == SEED_SOURCE:
            continue
        calls = [match for match in RANDOM_CALL.finditer(source.code)
                 if "using:" not in source.code[match.start():closing(source.code, match.end() - 1)]]
        for match in sorted([*calls, *UNSEEDED.finditer(source.code)], key=lambda match: match.start()):
            check.fault(source.path, source.line_of(match.start()) + 1,
                        f"'{match.group().rstrip('(')}' draws what cannot be drawn again: "
                        "use SeededGenerator.forTest(), which prints its seed")


# MARK: code in the pages

FENCE = re.compile(r"^```swift\n(.*?)^```", re.MULTILINE | re.DOTALL)
FRAGMENT = re.compile(r"<!-- fragment: \S.*-->\s*$")


def check_snippets(check):
    """Every paragraph of a ```swift block of README.md and the guides is, but for white space, in a file that is compiled;
    or the line above the block says <!-- fragment: why it is none -->."""
    pages = [os.path.join(check.root, "README.md"), *files(os.path.join(check.root, "Docs"), ".md")]
    compiled = None
    fragments = []
    for path in pages:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            page = file.read()
        for match in FENCE.finditer(page):
            line = page.count("\n", 0, match.start()) + 1
            if FRAGMENT.search(page[:match.start()]):
                fragments.append((path, line, "code that is marked as a fragment: nothing compiles it"))
                continue
            compiled = compiled if compiled is not None else compiled_texts(check)
            pieces = [squeezed(piece) for piece in re.split(r"\n[ \t]*\n", match.group(1))]
            if not all(any(piece in text for text in compiled) for piece in pieces):
                check.fault(path, line, "this code is in no test, so nothing compiles it: put it into one, word for word, "
                                        "or write <!-- fragment: why --> above it")
    check.ratchets.judge(check, "fragments in the pages", fragments)


def compiled_texts(check):
    return [squeezed(source.text) for source in check.sources if source.folder in ("Tests", "Tools")]


def squeezed(text):
    return " ".join(text.split())
