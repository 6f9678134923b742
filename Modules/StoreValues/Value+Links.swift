extension Value {
  /// The objects a mixed value links to, at any depth, with repetitions.
  public var links: [ObjectLink] {
    var found: [ObjectLink] = []
    collectLinks(&found)
    return found
  }

  private func collectLinks(_ found: inout [ObjectLink]) {
    switch self {
    case .object(let link): found.append(link)
    case .list(let elements): for element in elements { element.collectLinks(&found) }
    case .map(let map): for entry in map.entries { entry.value.collectLinks(&found) }
    default: break
    }
  }

  /// The value with links to `target` replaced by null, also inside lists and maps; null if the value itself is such a link.
  public func nullifying(_ target: ObjectLink) -> Value {
    switch self {
    case .object(let link): link == target ? .null : self
    case .list(let elements): .list(elements.map { $0.nullifying(target) })
    case .map(let map): .map(ValueMap(map.entries.map { ValueMap.Entry($0.key, $0.value.nullifying(target)) }))
    default: self
    }
  }
}
