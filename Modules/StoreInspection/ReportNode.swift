import StoreValues

/// A small JSON document in memory: for commands whose output grows with the schema, not with the data.
indirect enum ReportNode {
  case null
  case field(ShownField)
  case array([ReportNode])
  /// Members, in the order in which they are written.
  case object([(String, ReportNode)])

  static func text(_ text: String) -> ReportNode { .field(.value(.string(text))) }
  static func text(_ text: String?) -> ReportNode { text.map { ReportNode.text($0) } ?? .null }
  static func number(_ number: Int) -> ReportNode { .field(.value(.int(Int64(number)))) }
  static func bool(_ bool: Bool) -> ReportNode { .field(.value(.bool(bool))) }

  /// On one line without spaces, or on several lines indented by two. Without a final line end.
  func text(pretty: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes, pretty: pretty, depth: 0)
    return bytes
  }

  private func append(to bytes: inout [UInt8], pretty: Bool, depth: Int) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .field(let field): JSONText.append(field, to: &bytes)
    case .array(let nodes):
      ReportNode.append(nodes, "[", "]", to: &bytes, pretty: pretty, depth: depth) { node, bytes in
        node.append(to: &bytes, pretty: pretty, depth: depth + 1)
      }
    case .object(let members):
      ReportNode.append(members, "{", "}", to: &bytes, pretty: pretty, depth: depth) { member, bytes in
        JSONText.append(member.0, to: &bytes)
        bytes.append(contentsOf: (pretty ? ": " : ":").utf8)
        member.1.append(to: &bytes, pretty: pretty, depth: depth + 1)
      }
    }
  }

  private static func append<Item>(
    _ items: [Item], _ open: String, _ close: String, to bytes: inout [UInt8], pretty: Bool, depth: Int,
    _ body: (Item, inout [UInt8]) -> Void
  ) {
    func breakLine(_ depth: Int) {
      if pretty { bytes.append(contentsOf: ("\n" + String(repeating: "  ", count: depth)).utf8) }
    }
    bytes.append(contentsOf: open.utf8)
    for (position, item) in items.enumerated() {
      if position > 0 { bytes.append(UInt8(ascii: ",")) }
      breakLine(depth + 1)
      body(item, &bytes)
    }
    if !items.isEmpty { breakLine(depth) }
    bytes.append(contentsOf: close.utf8)
  }
}
