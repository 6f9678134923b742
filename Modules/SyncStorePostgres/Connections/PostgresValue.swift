#if Sync
/// A parameter of a statement, in PostgreSQL's binary format.
enum PostgresValue {
  case int(Int64)
  case bool(Bool)
  case bytes([UInt8])
  case text(String)
  case ints([Int64])
  case bools([Bool])
  case texts([String])
  /// nil is NULL.
  case byteLists([[UInt8]?])

  /// The OID of the type.
  var type: UInt32 {
    switch self {
    case .int: 20
    case .bool: 16
    case .bytes: 17
    case .text: 25
    case .ints: 1016
    case .bools: 1000
    case .texts: 1009
    case .byteLists: 1001
    }
  }

  func append(to buffer: inout [UInt8]) {
    switch self {
    case .int(let x): PostgresValue.put(x, &buffer)
    case .bool(let x): buffer.append(x ? 1 : 0)
    case .bytes(let x): buffer += x
    case .text(let x): buffer += x.utf8
    case .ints(let all):
      PostgresValue.head(all.count, of: 20, hasNulls: false, &buffer)
      for x in all {
        PostgresValue.put(Int32(8), &buffer)
        PostgresValue.put(x, &buffer)
      }
    case .bools(let all):
      PostgresValue.head(all.count, of: 16, hasNulls: false, &buffer)
      for x in all {
        PostgresValue.put(Int32(1), &buffer)
        buffer.append(x ? 1 : 0)
      }
    case .texts(let all):
      PostgresValue.head(all.count, of: 25, hasNulls: false, &buffer)
      for x in all { PostgresValue.put(content: x.utf8, &buffer) }
    case .byteLists(let all):
      PostgresValue.head(all.count, of: 17, hasNulls: all.contains { $0 == nil }, &buffer)
      for x in all {
        if let x { PostgresValue.put(content: x, &buffer) } else { PostgresValue.put(Int32(-1), &buffer) }
      }
    }
  }

  /// The header of a one-dimensional array whose first index is 1.
  private static func head(_ count: Int, of type: UInt32, hasNulls: Bool, _ buffer: inout [UInt8]) {
    put(Int32(count == 0 ? 0 : 1), &buffer)
    put(Int32(hasNulls ? 1 : 0), &buffer)
    put(type, &buffer)
    guard count > 0 else { return }
    put(Int32(truncatingIfNeeded: count), &buffer)
    put(Int32(1), &buffer)
  }

  private static func put(content: some Collection<UInt8>, _ buffer: inout [UInt8]) {
    put(Int32(truncatingIfNeeded: content.count), &buffer)
    buffer += content
  }

  static func put(_ value: some FixedWidthInteger, _ buffer: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { buffer += $0 }
  }
}

/// A statement with its parameters.
struct PostgresStatement {
  let text: String
  let values: [PostgresValue]

  init(_ text: String, _ values: PostgresValue...) { (self.text, self.values) = (text, values) }

  /// Whether it removes rows that are there.
  var isDeletion: Bool { text.hasPrefix("DELETE") }
}
#endif
