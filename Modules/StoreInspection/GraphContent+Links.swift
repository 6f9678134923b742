import StorageInterface
import StoreValues

extension GraphContent {
  /// The content without links to objects for which `lives` is false: a single link becomes null, lists and sets lose the element, and
  /// a map the key; a map of mixed values keeps the key with null. `target` is the table that the property's links lead to; `cut` counts
  /// the removed links.
  func keepingLinks(to target: TableID?, _ cut: inout Int, _ lives: (ObjectLink) -> Bool) -> GraphContent {
    switch self {
    case .scalar(let value): return .scalar(value.keepingLinks(to: target, &cut, lives))
    case .elements(let values):
      var kept: [Value] = []
      for value in values {
        let left = value.keepingLinks(to: target, &cut, lives)
        if left.isNull, !value.isNull { continue }
        kept.append(left)
      }
      return .elements(kept)
    case .entries(let entries):
      var kept: [ValueMap.Entry] = []
      for entry in entries {
        let left = entry.value.keepingLinks(to: target, &cut, lives)
        // A map of links has no null.
        if case .link = entry.value, left.isNull { continue }
        kept.append(ValueMap.Entry(entry.key, left))
      }
      return .entries(kept)
    }
  }
}

extension Value {
  fileprivate func keepingLinks(to target: TableID?, _ cut: inout Int, _ lives: (ObjectLink) -> Bool) -> Value {
    let link: ObjectLink
    switch self {
    case .link(let key):
      guard let target else { return self }
      link = ObjectLink(target, key)
    case .object(let object): link = object
    case .list(let values): return .list(values.map { $0.keepingLinks(to: target, &cut, lives) })
    case .map(let map):
      return .map(ValueMap(map.entries.map { ValueMap.Entry($0.key, $0.value.keepingLinks(to: target, &cut, lives)) }))
    default: return self
    }
    if lives(link) { return self }
    cut += 1
    return .null
  }
}
