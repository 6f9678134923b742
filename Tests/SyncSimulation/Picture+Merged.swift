import StoreValues
import SyncModel

extension Picture {
  /// What a merge state shows in the schema of `Models.swift`, worked out from the records alone.
  init(_ state: MemoryState) {
    for (object, record) in state.records where record.isAlive {
      let reader = MergedReader(state: state, object: object)
      let contents = record.node.contents
      objects["\(object)"] = object.className == "Thing" ? reader.thing(contents) : reader.plain(contents)
    }
  }
}

private struct MergedReader {
  let state: MemoryState
  let object: ObjectIdentity

  private func text(_ cell: CellValue?) -> String? {
    guard let cell else { return nil }
    if case .link(let link) = cell { return Merge.resolves(link, in: state) ? "→\(link.object)" : nil }
    if case .list(let elements) = cell { return "[" + elements.map { text($0) ?? "nil" }.joined(separator: ", ") + "]" }
    return "\(cell)"
  }

  private func scalar(_ contents: Contents, _ name: Name, _ absent: String = "nil") -> String {
    text(contents.values[name]?.visible) ?? absent
  }

  private func list(_ contents: Contents, _ name: Name, _ path: [PathStep.Place], isEmbedding: Bool = false) -> String {
    let place = ListPlace(object: object, path: path + [.list(name)])
    let shown = state.elements(of: place).compactMap { element in
      isEmbedding ? part(element.slot.node, place.path + [.element(element.id)]) : text(element.slot.value)
    }
    return "[" + shown.joined(separator: ", ") + "]"
  }

  private func set(_ contents: Contents, _ name: Name) -> String {
    let members = contents.sets[name]?.members.compactMap { $0.value.isErased ? nil : text($0.value.value) } ?? []
    return "(" + members.sorted().joined(separator: ", ") + ")"
  }

  private func map(_ contents: Contents, _ name: Name, isEmbedding: Bool = false) -> String {
    let entries = contents.maps[name]?.entries.filter { $0.value.isVisible } ?? []
    let shown = entries.compactMap { entry in
      let slot = entry.value.slot
      let value = isEmbedding ? part(slot.node, [.map(name), .entry(entry.key)]) : text(slot.value)
      return value.map { "\(entry.key): \($0)" }
    }
    return "<" + shown.joined(separator: ", ") + ">"
  }

  private func part(_ node: Node?, _ path: [PathStep.Place]) -> String? {
    guard let node, node.isMade else { return nil }
    let contents = node.contents
    return "{count: \(scalar(contents, "count", "0")), f: \(scalar(contents, "f")), inner: \(list(contents, "inner", path))}"
  }

  func thing(_ contents: Contents) -> [String: String] {
    [
      "id": "\(object.primaryKey ?? .null)", "x": scalar(contents, "x"), "n": scalar(contents, "n", "0"),
      "rank": scalar(contents, "rank", "0"),
      "link": scalar(contents, "link"), "texts": list(contents, "texts", []), "friends": list(contents, "friends", []),
      "numbers": set(contents, "numbers"), "circle": set(contents, "circle"), "notes": map(contents, "notes"),
      "part": part(contents.embedded["part"], [.embedded("part")]) ?? "nil",
      "parts": list(contents, "parts", [], isEmbedding: true), "named": map(contents, "named", isEmbedding: true),
      "extra": scalar(contents, "extra"),
    ]
  }

  func plain(_ contents: Contents) -> [String: String] {
    ["name": scalar(contents, "name"), "thing": scalar(contents, "thing")]
  }
}
