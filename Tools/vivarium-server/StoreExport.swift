#if Sync
import Foundation
import StoreValues
import SyncModel
import SyncProtocol
import SyncServer

/// What the objects of a server's store show, as lines of JSON: one object each, in the order of types and keys.
///
/// `{"key":"first","type":"Page","values":{"tags":["new"],"text":"hello","author":{"key":7,"type":"Person"}}}`
///
/// A reference is the type and key of its object, and null where that is not there. Of an object without a primary key, the key is the
/// replica that made it and its number there. Dates, UUIDs, decimals and bytes are texts, as `inspect` writes them.
struct StoreExport {
  private let state: MemoryState

  /// Reads a store as it is; a server may go on meanwhile. All of it is in memory then.
  init(_ path: StorePath, of stores: any SyncServerStore) async throws {
    var state = MemoryState()
    var last: ObjectIdentity?
    while true {
      let page = try await stores.objects(path, changedAfter: .zero, behind: last, limitBytes: 1 << 20)
      state.setFloor(page.floor)
      for object in page.objects { Merge.replace(object.identity, with: object.state, in: &state) }
      last = page.objects.last?.identity
      if page.isLast { break }
    }
    self.state = state
  }

  /// Gives each line, without its end.
  func lines(_ body: (Data) throws -> Void) throws -> Int {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var count = 0
    for object in state.records.keys.sorted() {
      guard let record = state.records[object], record.isAlive else { continue }
      let shown = reference(object).merging(["values": values(record.node.contents, of: object, [])]) { $1 }
      try body(encoder.encode(JSONValue.object(shown)))
      count += 1
    }
    return count
  }

  private func values(_ contents: Contents, of object: ObjectIdentity, _ path: [PathStep.Place]) -> JSONValue {
    var values: [String: JSONValue] = [:]
    for (name, register) in contents.values.map({ ($0.key, $0.value) }) { values[name.text] = shown(register.visible) ?? .null }
    for (name, node) in contents.embedded.map({ ($0.key, $0.value) }) {
      values[name.text] = node.isMade ? self.values(node.contents, of: object, path + [.embedded(name)]) : .null
    }
    for name in contents.lists.map(\.key) {
      let place = ListPlace(object: object, path: path + [.list(name)])
      values[name.text] = .array(
        state.elements(of: place).compactMap { shown($0.slot, of: object, place.path + [.element($0.id)]) })
    }
    for (name, set) in contents.sets.map({ ($0.key, $0.value) }) {
      values[name.text] = .array(set.members.compactMap { $0.value.isErased ? nil : shown($0.value.value) })
    }
    for (name, map) in contents.maps.map({ ($0.key, $0.value) }) {
      var entries: [String: JSONValue] = [:]
      for entry in map.entries where entry.value.isVisible {
        entries[entry.key.text] = shown(entry.value.slot, of: object, path + [.map(name), .entry(entry.key)]) ?? .null
      }
      values[name.text] = .object(entries)
    }
    return .object(values)
  }

  /// An element or entry: what is embedded there, or its value.
  private func shown(_ slot: Slot, of object: ObjectIdentity, _ path: [PathStep.Place]) -> JSONValue? {
    slot.node.isMade ? values(slot.node.contents, of: object, path) : shown(slot.value)
  }

  /// nil for a link that leads nowhere, which collections leave out.
  private func shown(_ cell: CellValue) -> JSONValue? {
    switch cell {
    case .plain(let plain): return JSONValue(plain.value)
    case .link(let link): return Merge.resolves(link, in: state) ? .object(reference(link.object)) : nil
    case .list(let elements): return .array(elements.map { shown($0) ?? .null })
    case .map(let table):
      return .object(Dictionary(table.map { ($0.key.text, shown($0.value) ?? .null) }, uniquingKeysWith: { $1 }))
    }
  }

  private func reference(_ object: ObjectIdentity) -> [String: JSONValue] {
    var key = JSONValue.null
    if case .created(let replica, let number) = object.key {
      key = .object(["replica": .text(String(replica.rawValue)), "number": .integer(number.rawValue)])
    } else if let value = object.primaryKey {
      key = JSONValue(value)
    }
    return ["type": .text(object.className.text), "key": key]
  }
}

/// A value of JSON.
enum JSONValue: Encodable {
  case null
  case truth(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// A value without links. What JSON's numbers cannot say is a text.
  init(_ value: Value) {
    switch value {
    case .null, .link, .object, .list, .map: self = .null
    case .bool(let x): self = .truth(x)
    case .int(let x): self = .integer(x)
    case .float(let x): self = x.isFinite ? .real(Double("\(x)") ?? Double(x)) : .text(JSONValue.notFinite(Double(x)))
    case .double(let x): self = x.isFinite ? .real(x) : .text(JSONValue.notFinite(x))
    case .string(let x): self = .text(x)
    case .data(let x): self = .text(x.base64EncodedString())
    case .date(let x): self = .text(x.description)
    case .uuid(let x): self = .text(x.uuidString)
    case .objectId(let x): self = .text(x.description)
    case .decimal(let x): self = .text(x.description)
    }
  }

  private static func notFinite(_ x: Double) -> String { x.isNaN ? "NaN" : x < 0 ? "-Infinity" : "Infinity" }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .truth(let x): try container.encode(x)
    case .integer(let x): try container.encode(x)
    case .real(let x): try container.encode(x)
    case .text(let x): try container.encode(x)
    case .array(let x): try container.encode(x)
    case .object(let x): try container.encode(x)
    }
  }
}
#endif
