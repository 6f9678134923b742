"""The check of the check: small trees, right and wrong, and what has to be found in them."""
import os
import tempfile

from checks.declarations import functions, types
from checks.ratchets import TABLE, Ratchets
from checks.run import Check
from checks.source import Source

RANKS = {"Values": 0, "Storage": 2, "StorageLMDB": 5, "StorageSQLite": 5, "Vivarium": 6, "VivariumMacros": 6}


def target(name, dependencies=(), kind="regular", path=None):
    return {"name": name, "type": kind, "path": path or f"Modules/{name}",
            "dependencies": [{"byName": [d, None]} for d in dependencies]}


def check_of(targets, files, root):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
    products = [{"name": t["name"], "type": {"library": ["automatic"]}, "targets": [t["name"]]}
                for t in targets if t["path"].startswith("Modules/")]
    return Check(root, {"targets": targets, "products": products})


def faults_of(targets, files):
    table = "\n".join(f"| {RANKS[t['name']]} | `{t['name']}` | |" for t in targets if t["name"] in RANKS)
    with tempfile.TemporaryDirectory() as root:
        return check_of(targets, {"Docs/Architecture.md": table, **files}, root).run()


MODULE, TEST = "Modules/Values/A.swift", "Tests/ATests/A.swift"
VALUES, STORAGE = target("Values"), target("Storage", ["Values"])
MACROS = target("VivariumMacros", kind="macro")
SUPPORT = target("TestSupport", path="Tests/TestSupport")

LAYERS = [
    ("a clean tree is clean", None, [VALUES, STORAGE],
     {"Modules/Storage/A.swift": "@preconcurrency import Values\npublic import struct Foundation.Data\n"}),
    ("an import upwards", "up, not down", [target("Values", ["Storage"]), target("Storage")],
     {MODULE: "import Storage\n"}),
    ("an import upwards in the manifest alone", "declares 'Storage'", [target("Values", ["Storage"]), target("Storage")], {}),
    ("an import sideways", "sideways", [target("StorageLMDB", ["StorageSQLite"]), target("StorageSQLite")],
     {"Modules/StorageLMDB/A.swift": "#if canImport(StorageSQLite)\n  import class StorageSQLite.X\n#endif\n"}),
    ("an undeclared import", "does not declare it", [VALUES, target("Storage")],
     {"Modules/Storage/A.swift": "// why\nimport Values\n"}),
    ("an undeclared import of a test", "does not declare it", [VALUES, target("ATests", kind="test", path="Tests/ATests")],
     {TEST: "@testable import Values\n"}),
    ("a library that imports test support", "for tests only", [target("Values", ["TestSupport"]), SUPPORT],
     {MODULE: "import TestSupport\n"}),
    ("a linked plug-in", "imports the macro plug-in", [target("Vivarium", ["VivariumMacros"]), MACROS],
     {"Modules/Vivarium/A.swift": "import VivariumMacros\n"}),
    ("a plug-in built first is right", None, [target("Vivarium", ["VivariumMacros"]), MACROS],
     {"Modules/Vivarium/A.swift": "let a = 1\n"}),
    ("a plug-in with imports of what others import", "stands alone",
     [VALUES, target("Storage", ["Values"]), target("VivariumMacros", ["Values"], kind="macro")],
     {"Modules/VivariumMacros/A.swift": "import Values\n"}),
    ("a plug-in with imports of what imports others", "stands alone",
     [VALUES, target("Storage", ["Values"]), target("VivariumMacros", ["Storage"], kind="macro")],
     {"Modules/VivariumMacros/A.swift": "import Storage\n"}),
    ("a plug-in with a library of its own is right", None, [VALUES, target("VivariumMacros", ["Values"], kind="macro")],
     {"Modules/VivariumMacros/A.swift": "import Values\n"}),
    ("a target without a rank", "has no rank", [target("Surprise")], {}),
    ("a rank without a target", "which is no target", [], {"Docs/Architecture.md": "| 3 | `Gone` | |\n"}),
    ("a program is in the table by its folder", None, [target("inspect", path="Tools/inspect")],
     {"Docs/Architecture.md": "| 10 | `Tools/inspect` | |\n"}),
    ("a comment of the manifest that says another rank", "says 3 to 4", [STORAGE, VALUES],
     {"Package.swift": "// Rank 0:\nRoom.module(\"Values\"),\n// Rank 3 and 4: these\nRoom.module(\n  \"Storage\", [\"Values\"]),\n"}),
    ("a comment of the manifest that is right", None, [STORAGE, VALUES],
     {"Package.swift": "// Rank 0 to 2: these\nRoom.module(\"Values\"),\nRoom.module(\n  \"Storage\", [\"Values\"]),\n"}),
    ("an import in a comment or a string is none", None, [VALUES, target("Storage")],
     {"Modules/Storage/A.swift":
      'let a = """\nimport Values \\(f("x"))\n"""\n/* import /* nested */\nimport Values */\nlet b = #"\n"\nimport Foundation\n'}),
    ("an import after a string is one", "does not declare it", [VALUES, target("Storage")],
     {"Modules/Storage/A.swift": 'let a = "\\(f("//"))"; let b = "\\""\nimport Values\n'}),
]

SIZES = [
    ("a long file", "501 lines", {MODULE: "// a\n" * 501}),
    ("a long test", "801 lines", {TEST: "// a\n" * 801}),
    ("a file at the limit is right", None,
     {MODULE: "// a\n" * 500, TEST: "// a\n" * 800}),
    ("a long function", "'f' has 71 lines", {MODULE: "func f(\n  _ a: Int\n) -> Int\nwhere X: Y {\n" + "a()\n" * 66 + "}\n"}),
    ("a long function of a test", "'f' has 71 lines", {TEST: "@Test func f() {\n" + "a()\n" * 69 + "}\n"}),
    ("a long initialiser", "'init' has 71 lines", {MODULE: "struct A {\n  init?(a: Int) {\n" + "a()\n" * 69 + "  }\n}\n"}),
    ("a long computed property", "'a' has 71 lines", {"Tools/A/A.swift": "var a: Int {\n" + "a()\n" * 69 + "}\n"}),
    ("a script with a quote that nobody ends", "no shell can read it", {"Tools/a": "#!/usr/bin/env bash\necho 'a\n"}),
    ("a long function in Python", "'f' has 71 lines", {"Tools/checks/a.py": "def f():\n" + "    g()\n" * 70}),
    ("functions at the limit, requirements and calls are right", None,
     {MODULE: "protocol P {\n  func a()\n  init()\n}\nfunc f() {\n" + "a.init()\n" * 68 + "}\n"}),
    ("a wide line", "141 characters", {MODULE: "// " + "a" * 138 + "\n"}),
    ("a wide line of a script", "141 characters", {"Tools/run": "#!/bin/sh\n# " + "a" * 139 + "\n"}),
    ("a line at the limit is right", None, {TEST: "// " + "é" * 137 + "\n"}),
]

PROOFS = [
    ("a shortcut in a test is nobody's matter", None, {TEST: "let a = try! f()\n"}),
    ("a shortcut in a string is none", None, {MODULE: 'let a = "try! fatalError() b!"\n'}),
    ("an explained shortcut is right", None,
     {MODULE: "// f never throws here: it is given a constant\nlet a =\n  try! f()\nlet b = x as! Y  // same\n"}),
    ("one comment for a run of shortcuts is right", None,
     {MODULE: "// one thread has it\n" + "@exclusivity(unchecked) var a = 1\n" * 6}),
    ("a proof on the type that names the shortcut is right", None,
     {MODULE: "/// A.\n///\n/// `@exclusivity(unchecked)`: one thread has it.\nfinal class A {\n  let b = 1\n\n\n\n"
              "  @exclusivity(unchecked) var a = 1\n}\n"}),
    ("a proof on another type is none", "without a comment",
     {MODULE: "/// `@exclusivity(unchecked)`: one thread has it.\nfinal class A {}\n\nfinal class B {\n  let b = 1\n"
              "  @exclusivity(unchecked) var a = 1\n}\n"}),
    ("negations and comparisons are no shortcuts", None, {MODULE: "if !a || b != c, d! == e {}\n".replace("d!", "!d")}),
] + [(f"'{word}' unexplained", "without a comment", {MODULE: "// far away\n\n\n\n" + word + "\n"}) for word in (
    "fatalError()", "try! f()", "x as! Y", "preconditionFailure()", "A: @unchecked Sendable", "nonisolated(unsafe) var a = 1",
    "precondition(a > 1)", "a.unsafelyUnwrapped", "@exclusivity(unchecked) var a = 1", "a[0]!.b", "f(a!)", "unowned(unsafe) let a: A")]

DOCUMENTED = [
    ("a public function without a word", "public func 'f'", {MODULE: "public func f() {}\n"}),
    ("a public property behind attributes", "public var 'a'", {MODULE: "// no\n@inlinable public static var a: Int { 1 }\n"}),
    ("a requirement of a public protocol", "public func 'f'", {MODULE: "/// P.\npublic protocol P {\n  func f()\n}\n"}),
    ("documented declarations are right", None,
     {MODULE: "/// F.\n@inlinable\n// why\npublic func f() {}\n/** A. */ \npublic struct A {\n  private(set) var a = 1\n}\n"}),
    ("what a refined protocol says needs no words", None,
     {MODULE: "/// P.\npublic protocol P {\n  /// F.\n  func f()\n}\n/// Q.\npublic protocol Q: P {\n  /// G.\n  func g()\n}\n"
              "extension A: Q {\n  public func f() {}\n  public func g() {}\n}\n"}),
    ("what a protocol says, what is internal or nobody's needs no words", None,
     {MODULE: "/// P.\npublic protocol P {\n  /// F.\n  func f()\n}\nextension A: P {\n  public func f() {}\n"
                                "  public var description: String { a }\n  public func _$a() {}\n  func b() {}\n}\n"}),
]

RANDOM = [
    (f"'{code}' in a test", "drawn again", {TEST: code + "\n"}) for code in (
        "let a = Int.random(in: 0..<f(1))", "a.shuffled()", "a.randomElement()", "var a = SystemRandomNumberGenerator()")
] + [("a seeded draw is right", None, {TEST: "a.shuffled(using: &b); Int.random(\n  in: 0..<f(1), using: &b)\n"})]

PAGES = [
    ("code of a page that nothing compiles", "in no test", {"README.md": "a\n```swift\nlet a = 1\n```\n", TEST: "let b = 1\n"}),
    ("code of a page that a test has is right", None,
     {"Docs/A.md": "```swift\nlet a = 1\nf(a)\n```\n", TEST: "do {\n  let a = 1\n  f(a)\n}\n"}),
    ("a marked fragment counts", "marked as a fragment", {"Docs/A.md": "<!-- fragment: a rule -->\n```swift\nlet …\n```\n"}),
    ("a marked fragment that the table allows is right", None,
     {"Docs/A.md": "<!-- fragment: a rule -->\n```swift\nlet …\n```\n", TABLE: '{"fragments in the pages": 1}'}),
    ("a table that allows too much", "run Tools/check --tighten", {TABLE: '{"wide lines in Tests": 3}'}),
    ("a table that allows too little", "one of these is new",
     {TEST: ("// " + "a" * 138 + "\n") * 2, TABLE: '{"wide lines in Tests": 1}'}),
]


def reading():
    """What is read of declarations, as (title, what it should be, what it is)."""
    code = ("class A {\n  let a = 1, x = 2\n  @W private var b: Int\n  static let c = 1\n  var d: Int { 1 }\n"
            "  var e = 1 {\n    didSet { f() }\n  }\n  func f() {\n    let g = 1\n  }\n}\n"
            "protocol P {\n  associatedtype B\n  var a: Int { get }\n  func f()\n  init(a: Int)\n}\n")
    with tempfile.TemporaryDirectory() as root:
        path = os.path.join(root, "A.swift")
        with open(path, "w", encoding="utf-8") as file:
            file.write(code)
        source = Source(root, path)
        first, second = types(source)
        yield "stored properties", ["a", "b", "e"], first.stored_properties()
        yield "requirements", 4, len(second.requirements())
        yield "functions", [("d", 1), ("f", 3)], [(name, count) for name, _, count in functions(source)]


def tightening():
    """The table after it was tightened, as (title, what it should be, what it is)."""
    with tempfile.TemporaryDirectory() as root:
        check = check_of([], {TABLE: '{"a": 3, "b": 1, "c": 2}'}, root)
        for name, count in (("a", 1), ("b", 2), ("c", 0)):
            check.ratchets.judge(check, name, [("x", 1, "x")] * count)
        check.ratchets.tighten()
        yield "a tightened table", {"a": 1, "b": 1}, Ratchets(root).table


def self_test():
    cases = LAYERS + [(title, expected, [VALUES], files)
                      for title, expected, files in SIZES + PROOFS + DOCUMENTED + RANDOM + PAGES]
    wrong = []
    for title, expected, targets, files in cases:
        faults = faults_of(targets, files)
        if bool(faults) if expected is None else not any(expected in fault for fault in faults):
            wrong.append(f"{title}: expected {expected or 'no fault'}, found {faults or 'nothing'}")
    readings = [*reading(), *tightening()]
    wrong += [f"{title}: expected {expected}, found {found}" for title, expected, found in readings if expected != found]
    for line in wrong:
        print(f"check: self-test: {line}")
    count = len(cases) + len(readings)
    print(f"check: self-test: {count - len(wrong)} of {count} cases right")
    return 1 if wrong else 0
