/// A pattern of `LIKE`: `*` is any run of bytes, `?` one code point, everything else itself. The whole text must
/// match.
struct LikePattern: Sendable {
  private enum Part: Sendable, Equatable { case byte(UInt8), one, run }
  private let parts: [Part]

  init(_ pattern: [UInt8]) {
    var parts: [Part] = []
    for byte in pattern {
      switch byte {
      case UInt8(ascii: "*"): if parts.last != .run { parts.append(.run) }
      case UInt8(ascii: "?"): parts.append(.one)
      default: parts.append(.byte(byte))
      }
    }
    self.parts = parts
  }

  /// O(text · pattern) at worst: only the last run is ever taken back.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var (at, part) = (0, 0)
    var retry: (at: Int, part: Int)?
    while at < text.count {
      if part < parts.count {
        switch parts[part] {
        case .run:
          part += 1
          retry = (at, part)
          continue
        case .one:
          at = LikePattern.after(at, text)
          part += 1
          continue
        case .byte(let byte) where byte == text[at]:
          at += 1
          part += 1
          continue
        case .byte: break
        }
      }
      guard let last = retry else { return false }
      at = LikePattern.after(last.at, text)
      part = last.part
      retry = (at, part)
    }
    while part < parts.count, parts[part] == .run { part += 1 }
    return part == parts.count
  }

  /// Where the code point that begins at a position ends.
  private static func after(_ at: Int, _ text: UnsafeRawBufferPointer) -> Int {
    var next = at + 1
    while next < text.count, text[next] & 0xC0 == 0x80 { next += 1 }
    return next
  }

  /// The same condition without a pattern, where there is one: `abc*` is a prefix.
  static func simple(_ pattern: [UInt8]) -> BytesTest? {
    if pattern.contains(UInt8(ascii: "?")) { return nil }
    let star = UInt8(ascii: "*")
    let inner = pattern.drop { $0 == star }
    let begins = inner.count == pattern.count
    let core = Array(inner.reversed().drop { $0 == star }.reversed())
    let ends = core.count == inner.count
    if core.contains(star) { return nil }
    if begins && ends { return .equal(core) }
    if core.isEmpty { return .range(.all) }
    if begins { return .prefix(core) }
    return ends ? .suffix(core) : .contains(core)
  }
}
