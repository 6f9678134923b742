#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

extension Catalog {
  /// A catalog from the form in which engines store it: the JSON of its `Codable` form.
  ///
  /// `CatalogScanner` reads the JSON that it knows: the general decoder looks up hundreds of generic types at first use, which
  /// took a process that opens a store longer than everything else together. The general decoder reads anything else, and
  /// anything damaged.
  package init(json: UnsafeRawBufferPointer) throws {
    var scanner = CatalogScanner(json)
    if let catalog = scanner.catalog() { self = catalog } else { self = try JSONDecoder().decode(Catalog.self, from: Data(json)) }
    if fault != nil { throw UnsoundCatalog() }
  }

  /// A catalog that no build writes.
  private struct UnsoundCatalog: Error {}
}

/// A strict hand-written parser for the JSON of a catalog: nil for anything that is not exactly as this build writes it,
/// including properties with fields that are not listed here.
struct CatalogScanner {
  private let bytes: UnsafeRawBufferPointer
  private var at = 0
  private var hasFailed = false

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func catalog() -> Catalog? {
    var catalog = Catalog()
    var found = 0
    object { scanner, name in
      switch name {
      case "identity":
        catalog.identity = StoreIdentity(scanner.string())
        if catalog.identity == nil { scanner.hasFailed = true }
        found -= 1
      case "sides":
        catalog.sides = scanner.truth()
        found -= 1
      case "nextIndex": catalog.nextIndex = scanner.number()
      case "nextTable": catalog.nextTable = scanner.number()
      case "tables": catalog.tables = scanner.array { $0.table() }
      default: scanner.hasFailed = true
      }
      found += 1
    }
    return hasFailed || at != bytes.count || found != 3 ? nil : catalog
  }

  private mutating func table() -> TableEntry? {
    var (id, name, next): (UInt16, String, UInt16) = (0, "", 0)
    var (columns, indexes): ([ColumnEntry], [IndexEntry]) = ([], [])
    var embedded: Bool?
    var texts: [TextIndexEntry]?
    var found = 0
    object { scanner, part in
      found += 1
      switch part {
      case "embedded":
        embedded = scanner.truth()
        found -= 1
      case "texts":
        texts = scanner.array { $0.textIndex() }
        found -= 1
      case "id": id = scanner.number()
      case "name": name = scanner.string()
      case "nextProperty": next = scanner.number()
      case "columns": columns = scanner.array { $0.column() }
      case "indexes": indexes = scanner.array { $0.index() }
      default: scanner.hasFailed = true
      }
    }
    if found != 5 { hasFailed = true }
    return TableEntry(
      id: TableID(id), name: name, columns: columns, indexes: indexes, nextProperty: next, embedded: embedded,
      texts: texts)
  }

  private mutating func column() -> ColumnEntry? {
    var id: UInt16 = 0
    var schema: PropertySchema?
    object { scanner, part in
      switch part {
      case "id": id = scanner.number()
      case "schema": schema = scanner.property()
      default: scanner.hasFailed = true
      }
    }
    return schema.map { ColumnEntry(id: PropertyID(id), schema: $0) }
  }

  private mutating func index() -> IndexEntry? {
    var id: UInt16 = 0
    var isUnique = false
    var properties: [PropertyID] = []
    object { scanner, part in
      switch part {
      case "id": id = scanner.number()
      case "isUnique": isUnique = scanner.truth()
      case "properties": properties = scanner.array { PropertyID($0.number()) }
      default: scanner.hasFailed = true
      }
    }
    return IndexEntry(id: IndexID(id), properties: properties, isUnique: isUnique)
  }

  private mutating func textIndex() -> TextIndexEntry? {
    var (id, property): (UInt16, UInt16) = (0, 0)
    var rules = 0
    object { scanner, part in
      switch part {
      case "id": id = scanner.number()
      case "property": property = scanner.number()
      case "rules": rules = scanner.number()
      default: scanner.hasFailed = true
      }
    }
    return TextIndexEntry(id: IndexID(id), property: PropertyID(property), rules: rules)
  }

  private mutating func property() -> PropertySchema? {
    var kind: PropertyKind?
    var result = PropertySchema(name: "", kind: .scalar(.bool))
    var truths = 0
    object { scanner, part in
      switch part {
      case "name": result.name = scanner.string()
      case "target": result.target = scanner.string()
      case "deleteRule":
        result.deleteRule = DeleteRule(rawValue: scanner.string())
        if result.deleteRule == nil { scanner.hasFailed = true }
      case "kind": kind = scanner.kind()
      case "defaultValue": result.defaultValue = scanner.defaultValue()
      case "fullText": result.isFullText = scanner.truth()
      case "cases": result.cases = scanner.array { $0.defaultValue() }
      case "isOptional": result.isOptional = scanner.truth()
      case "isPrimaryKey": result.isPrimaryKey = scanner.truth()
      case "isIndexed": result.isIndexed = scanner.truth()
      case "isUnique": result.isUnique = scanner.truth()
      default: scanner.hasFailed = true
      }
      if part.hasPrefix("is") { truths += 1 }
    }
    guard let kind, truths == 4 else { return nil }
    result.kind = kind
    return result
  }

  private mutating func kind() -> PropertyKind? {
    var kind: PropertyKind?
    object { scanner, name in
      var type: ValueType?
      var (origin, property): (String?, String?)
      scanner.object { scanner, part in
        switch part {
        case "_0": type = ValueType(rawValue: scanner.string())
        case "origin": origin = scanner.string()
        case "property": property = scanner.string()
        default: scanner.hasFailed = true
        }
      }
      switch (name, type, origin, property) {
      case ("scalar", let type?, nil, nil): kind = .scalar(type)
      case ("list", let type?, nil, nil): kind = .list(type)
      case ("set", let type?, nil, nil): kind = .set(type)
      case ("map", let type?, nil, nil): kind = .map(type)
      case ("linkingObjects", nil, let origin?, let property?): kind = .linkingObjects(origin: origin, property: property)
      default: scanner.hasFailed = true
      }
    }
    return kind
  }

  private mutating func defaultValue() -> DefaultValue? {
    var value: DefaultValue?
    object { scanner, name in
      scanner.object { scanner, part in
        guard part == "_0" else { return scanner.hasFailed = true }
        switch name {
        case "word": value = .word(scanner.number())
        case "bytes": value = .bytes(scanner.array { $0.number() })
        default: scanner.hasFailed = true
        }
      }
    }
    if value == nil { hasFailed = true }
    return value
  }
}

// MARK: - JSON

extension CatalogScanner {
  /// The next byte that is not white space; 0 at the end.
  private var next: UInt8 { at < bytes.count ? bytes[at] : 0 }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    at += 1
    return true
  }

  private mutating func expect(_ character: Unicode.Scalar) { if !take(character) { hasFailed = true } }

  /// Calls `body` with each name, before its value. A repeated name is read twice.
  private mutating func object(_ body: (inout CatalogScanner, String) -> Void) {
    expect("{")
    if take("}") { return }
    while !hasFailed {
      let name = string()
      expect(":")
      if hasFailed { return }
      body(&self, name)
      if take("}") { return }
      expect(",")
    }
  }

  private mutating func array<T>(_ element: (inout CatalogScanner) -> T?) -> [T] {
    var result: [T] = []
    expect("[")
    if take("]") { return result }
    while !hasFailed {
      guard let value = element(&self) else {
        hasFailed = true
        break
      }
      result.append(value)
      if take("]") { break }
      expect(",")
    }
    return result
  }

  private mutating func truth() -> Bool {
    for (text, value): (StaticString, Bool) in [("true", true), ("false", false)]
    where bytes.count - at >= text.utf8CodeUnitCount
      && UnsafeRawBufferPointer(rebasing: bytes[at..<at + text.utf8CodeUnitCount])
        .elementsEqual(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    {
      at += text.utf8CodeUnitCount
      return value
    }
    hasFailed = true
    return false
  }

  /// An integer that fits the type.
  private mutating func number<T: FixedWidthInteger>() -> T {
    let isNegative = take("-")
    var value: T = 0
    let start = at
    while (48...57).contains(next) {
      let digit = T(next - 48)
      let (product, first) = value.multipliedReportingOverflow(by: 10)
      let (sum, second) =
        isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if first || second { hasFailed = true }
      value = sum
      at += 1
    }
    // A fraction or an exponent fails at the next expected character.
    if at == start { hasFailed = true }
    return value
  }

  /// A string without escapes.
  private mutating func string() -> String {
    expect("\"")
    let start = at
    while at < bytes.count, bytes[at] != UInt8(ascii: "\""), bytes[at] != UInt8(ascii: "\\") { at += 1 }
    let text = UnsafeRawBufferPointer(rebasing: bytes[min(start, at)..<at])
    expect("\"")
    guard !hasFailed, let result = String(validating: text, as: UTF8.self) else {
      hasFailed = true
      return ""
    }
    return result
  }
}
