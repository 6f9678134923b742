"""Numbers about the tree, for people."""
import collections
import statistics

from checks.declarations import functions, types
from checks.habits import offered_declarations

BIGGEST = 5


def report(check):
    sources = [source for source in check.sources if source.folder == "Modules"]
    tests = [source for source in check.sources if source.folder == "Tests"]
    tools = [source for source in check.sources if source.folder == "Tools"]
    print("== Files and functions: number, lines; median, nine tenths below, longest")
    for title, group in (("modules", sources), ("tests", tests), ("tools", tools)):
        lengths = [source.line_count for source in group]
        print(f"  {title:8} files     {spread(lengths)}   {longest_file(group)}")
        found = [(count, f"{source.name}:{first + 1} {name}") for source in group for name, first, count in functions(source)]
        print(f"  {'':8} functions {spread([count for count, _ in found])}   {max(found, default=(0, ''))[1]}")
    print_protocols(sources)
    print_types(sources)
    print_documentation(check)
    return 0


def spread(lengths):
    if not lengths:
        return "none"
    ordered = sorted(lengths)
    tenth = ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)]
    return f"{len(lengths):6} {sum(lengths):7} lines; {statistics.median(lengths):5.0f} {tenth:5} {ordered[-1]:5}"


def longest_file(group):
    return max(group, key=lambda source: source.line_count).name if group else ""


def print_protocols(sources):
    counts = collections.Counter()
    for source in sources:
        for body in types(source):
            if body.kind == "protocol":
                counts[f"{source.name.split('/')[1]}.{body.name}"] = len(body.requirements())
    print(f"\n== Protocols: {len(counts)}, requirements of each")
    for name, count in counts.most_common():
        print(f"  {count:4}  {name}")


def print_types(sources):
    lines, stored = collections.Counter(), collections.Counter()
    for source in sources:
        for body in types(source):
            if body.kind in ("class", "struct", "enum", "actor", "extension"):
                name = f"{source.name.split('/')[1]}.{body.name}"
                lines[name] += body.line_count
                if body.kind in ("class", "struct", "actor"):
                    stored[name] += len(body.stored_properties())
    print("\n== The biggest types with their extensions: lines, stored properties")
    declared = [entry for entry in lines.most_common() if entry[0] in stored]
    shown = declared[:BIGGEST] + [entry for entry in declared[BIGGEST:] if entry[0] == "Vivarium.Store"]
    for name, count in shown:
        print(f"  {count:5} {stored[name]:4}  {name}")


def print_documentation(check):
    print("\n== Public declarations: number, documented")
    for name in check.offered:
        found = offered_declarations(check, name)
        documented = sum(declaration.is_documented for declaration in found)
        share = f"{100 * documented / len(found):3.0f} %" if found else "    -"
        print(f"  {name:19} {len(found):5} {documented:5} {share}")
