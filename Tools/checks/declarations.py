"""Swift declarations, read well enough to be counted: functions with their lengths, types with their stored
properties, protocols with their requirements, and what is public."""
import re

from checks.source import closing

FUNCTION = re.compile(
    r"(?<![.\w`])(?:func\s+(?P<name>[^\s(<]+|`\w+`)|(?P<init>init)(?=\s*[?!]?\s*[(<])|(?P<subscript>subscript)(?=\s*[(<])"
    r"|(?P<deinit>deinit)(?=\s*\{)|var\s+(?P<var>`?\w+`?)\s*:[^={}\n]*(?=\{))")
# The body of a property that a protocol asks for.
ACCESSORS = re.compile(r"\{[^{}]*\b(?:get|set)\b(?!\s*[=.(])[^{}]*\}")
# What can only stand behind the declaration before it, where that has no body.
NEXT = re.compile(
    r"[ \t]*(?:[@#}]|(?:public|open|package|internal|fileprivate|private|static|class|final|mutating|nonmutating|override|"
    r"func|var|let|init|deinit|subscript|case|struct|enum|protocol|extension|associatedtype|typealias|indirect|nonisolated|"
    r"convenience|required|prefix|postfix|infix|lazy|weak|unowned|import|actor|macro)\b)")
TYPE = re.compile(r"(?<![.\w`])(?P<kind>class|struct|enum|actor|protocol|extension)\s+(?P<name>`?[A-Z]\w*(?:\.\w+)*`?)[^{}]*?\{")
MODIFIERS = (r"(?:(?:@\w+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|public(?:\(set\))?|open|package(?:\(set\))?|internal(?:\(set\))?"
             r"|fileprivate(?:\(set\))?|private(?:\(set\))?|static|class|final|mutating|nonmutating|override|indirect|lazy|weak"
             r"|unowned(?:\(\w+\))?|nonisolated(?:\(\w+\))?|convenience|required|prefix|postfix|infix|consuming|borrowing|dynamic"
             r"|isolated|distributed|async)\s+)*")
DECLARATION = re.compile(
    r"^[ \t]*(?P<modifiers>" + MODIFIERS + r")(?P<kind>func|var|let|init|subscript|class|struct|enum|actor|protocol|typealias"
    r"|associatedtype|macro)\b(?P<rest>[^\n]*)", re.MULTILINE)

# Members that say what their standard protocol says: its documentation is theirs.
STANDARD = {
    "description", "debugDescription", "hash", "==", "<", "encode", "startIndex", "endIndex", "makeIterator", "next",
    "makeAsyncIterator", "errorDescription", "recoverySuggestion", "failureReason", "customMirror", "rawValue", "allCases",
    "index", "formIndex", "underestimatedCount", "hashValue", "Element", "Index", "Iterator", "AsyncIterator", "SubSequence",
    "RawValue", "ID", "Failure", "Indices", "indices", "Body", "AllCases", "localizedDescription",
}
STANDARD_INITS = re.compile(
    r"^\s*\??\s*\(\s*(?:from\s+\w+\s*:|rawValue\s*:|(?:string|integer|float|boolean|array|dictionary|nil)\w*Literal\b)")


def functions(source):
    """(name, number from 0 of its first line, lines) of each function, initialiser, subscript and computed property."""
    code = source.code
    for match in FUNCTION.finditer(code):
        body = body_start(code, match.end(), is_property=match.group("var") is not None)
        if body is None or ACCESSORS.match(code, body):
            continue
        first, last = source.line_of(match.start()), source.line_of(closing(code, body) - 1)
        name = match.group("name") or match.group("var") or match.group("init") or match.group("subscript") or "deinit"
        yield name, first, last - first + 1


def body_start(code, position, is_property):
    """Where the body opens of a declaration whose name ends at `position`, or None: a requirement has none."""
    while position < len(code):
        character = code[position]
        if character == "{":
            return position
        if character in "([":
            position = closing(code, position)
            continue
        if character in "};" or (character == "=" and is_property):
            return None
        if character == "\n":
            rest = re.compile(r"\s*").match(code, position).end()
            if NEXT.match(code, code.rfind("\n", 0, rest) + 1):
                return None
        position += 1
    return None


class TypeBody:
    """A type, or an extension of one, and the code between its braces."""

    def __init__(self, source, match):
        self.source, self.kind, self.name = source, match.group("kind"), match.group("name").strip("`")
        self.head = match.group()
        self.start, self.end = match.end(), closing(source.code, match.end() - 1) - 1
        self.line = source.line_of(match.start())
        self.line_count = source.line_of(self.end) - self.line + 1

    def members(self):
        """The body with everything inside nested braces blanked: what is left is declared by the type itself."""
        code, out, depth = self.source.code, [], 0
        for character in code[self.start:self.end]:
            depth -= character == "}"
            out.append(character if depth == 0 or character == "\n" else " ")
            depth += character == "{"
        return "".join(out)

    def stored_properties(self):
        """Names of what each instance stores; a computed property has braces that are no observers'."""
        code, members, names = self.source.code, self.members(), []
        for match in DECLARATION.finditer(members):
            if match.group("kind") not in ("var", "let") or re.search(r"\b(?:static|class)\b", match.group("modifiers")):
                continue
            name = re.match(r"\s*(`?\w+`?|\([^)]*\))", match.group("rest"))
            head = match.group("rest").split("=")[0]
            opens = head.find("{")
            if opens >= 0:
                body = self.start + match.start("rest") + opens
                if not re.match(r"\{\s*(?:willSet|didSet)\b", code[body:]):
                    continue
            names.append(name.group(1) if name else "?")
        return names

    def requirements(self):
        return [match for match in DECLARATION.finditer(self.members()) if match.group("kind") != "typealias"]


def types(source):
    for match in TYPE.finditer(source.code):
        yield TypeBody(source, match)


class PublicDeclaration:
    def __init__(self, source, line, kind, name, is_documented):
        self.source, self.line, self.kind, self.name, self.is_documented = source, line, kind, name, is_documented


def requirement_names(sources):
    """The names that each protocol asks for, also by what it refines, by the protocol's name."""
    protocols = [body for source in sources for body in types(source) if body.kind == "protocol"]
    own = {body.name: {declared_name(match) for match in body.requirements()} for body in protocols}
    refined = {body.name: {name for name in re.findall(r"\w+", body.head) if name in own} for body in protocols}

    def names(protocol, seen):
        return own[protocol].union(*(names(other, seen | {other}) for other in refined[protocol] - seen))

    return {protocol: names(protocol, {protocol}) for protocol in own}


def public_declarations(source, requirements):
    """What is public, and the requirements of public protocols. Cases are read with their enumeration. No words of their
    own need members that a protocol describes (a standard one, or one that is named where they stand), overrides,
    what is unavailable, and names that begin with '_': those are the macros', and no person's."""
    found, bodies = [], list(types(source))
    for match in DECLARATION.finditer(source.code):
        if re.search(r"\b(?:public|open)\b(?!\()", match.group("modifiers")):
            found.append((match.start("modifiers"), match))
    for body in bodies:
        if body.kind == "protocol" and re.search(r"\bpublic\b", source.lines[body.line]) and not body.name.startswith("_"):
            found += [(body.start + match.start("modifiers"), match) for match in body.requirements()]
    for position, match in sorted(found, key=lambda entry: entry[0]):
        line, name = source.line_of(position), declared_name(match)
        if name.startswith("_") or is_standard(match, name) or is_unavailable(source, line):
            continue
        if name not in described_names(bodies, position, requirements):
            yield PublicDeclaration(source, line, match.group("kind"), name, is_documented(source, line))


def described_names(bodies, position, requirements):
    """The names that the protocols describe which the innermost type round a position names in its head."""
    around = [body for body in bodies if body.start <= position < body.end]
    if not around or max(around, key=lambda body: body.start).kind == "protocol":
        return set()
    named = re.findall(r"\w+", max(around, key=lambda body: body.start).head)
    return set().union(*(requirements.get(name, set()) for name in named))


def declared_name(match):
    if match.group("kind") in ("init", "subscript"):
        return match.group("kind")
    name = re.match(r"\s*(`?[\w$]+`?|[^\s(<\w]+)", match.group("rest"))
    return name.group(1).strip("`") if name else "?"


def is_standard(match, name):
    return name in STANDARD or "override" in match.group("modifiers") or (
        name == "init" and STANDARD_INITS.match(match.group("rest")) is not None)


def attribute_lines(source, line):
    """The line above a declaration and the attributes and conditions that stand before it."""
    above = line - 1
    while above >= 0 and source.lines[above].strip().startswith(("@", "#if")):
        above -= 1
    return above


def is_documented(source, line):
    text = source.texts
    above = attribute_lines(source, line)
    while above >= 0 and re.match(r"\s*//(?!/)", text[above]):
        above -= 1
    stripped = text[above].strip() if above >= 0 else ""
    return stripped.startswith("///") or stripped.endswith("*/")


def is_unavailable(source, line):
    above = attribute_lines(source, line)
    return "unavailable" in "\n".join(source.lines[above + 1:line + 1])
