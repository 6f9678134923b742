import StoreValues
import SyncModel

/// A node of a plain tree: an object, an embedded one or a collection, without anything that merging needs to know.
final class Thing {
  var epoch = Stamp.zero
  var isMade = false
  var values: [Name: (value: CellValue, isWritten: Bool)] = [:]
  var added: [Name: Int64] = [:]  // since the property was written last
  var things: [PathStep.Place: Thing] = [:]  // embedded objects and collections
  var elements: [ElementID: (position: ListPosition, value: CellValue, thing: Thing)] = [:]
  var members: [MemberKey: CellValue] = [:]
  var entries: [Name: (value: CellValue?, thing: Thing)] = [:]

  func begin(_ stamp: Stamp) {
    epoch = stamp
    isMade = false
    values = [:]
    added = [:]
    things = [:]
    elements = [:]
    members = [:]
    entries = [:]
  }

  func setEntry(_ key: Name, _ value: CellValue?, _ stamp: Stamp) {
    let slot = entries[key]?.thing ?? Thing()
    slot.begin(stamp)
    entries[key] = (value, slot)
  }

  static func sum(_ value: CellValue, _ delta: Int64) -> CellValue {
    guard case .plain(let plain) = value, case .int(let x) = plain.value else { return value }
    return .int(x &+ delta)
  }

  /// - Parameter resolves: whether a link leads somewhere.
  func shown(_ resolves: (LinkTarget) -> Bool) -> Shown {
    func value(_ value: CellValue) -> CellValue? {
      guard case .link(let link) = value else { return value }
      return resolves(link) ? .link(LinkTarget(link.object)) : nil
    }
    func slot(_ content: CellValue, _ thing: Thing) -> Shown? {
      thing.isMade ? thing.shown(resolves) : value(content).map { .value($0) }
    }
    var all: [String: Shown] = [:]
    for (name, cell) in values { all["V.\(name)"] = .value(value(cell.value) ?? .null) }
    for (place, inner) in things {
      switch place {
      case .embedded(let name): if inner.isMade { all["E.\(name)"] = inner.shown(resolves) }
      case .list(let name):
        let sorted = inner.elements.sorted { ($0.value.position, $0.key) < ($1.value.position, $1.key) }
        all["L.\(name)"] = .list(sorted.compactMap { slot($0.value.value, $0.value.thing) })
      case .set(let name): all["S.\(name)"] = .set(Set(inner.members.values.compactMap(value)))
      case .map(let name):
        var map: [String: Shown] = [:]
        for (key, entry) in inner.entries {
          if let value = entry.value { map[key.text] = slot(value, entry.thing) }
        }
        all["M.\(name)"] = .map(map)
      case .element, .entry: break
      }
    }
    return .object(all.filter { !$0.value.isEmpty })
  }
}
