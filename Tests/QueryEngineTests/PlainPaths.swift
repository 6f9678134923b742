import QueryModel
import StorageInterface
import StoreValues

/// What paths over collections mean, written as plainly as it can be.
struct PlainPaths {
  let world: CollectionWorld

  /// The values of a path in groups, and whether it stands for many. Objects are links with their type.
  struct Found {
    var groups: [[Value]]
    var isMany: Bool
  }

  private struct Place {
    let type: String
    let key: Int64
  }

  /// Where a path stands: at objects, or at values.
  private enum State {
    case objects([Place?])
    case values([[Value]])
  }

  func find(_ path: PropertyPath, from key: Int64) -> Found {
    var (state, isMany) = (State.objects([Place(type: "Item", key: key)]), false)
    var rest = path.components[...]
    while let name = rest.popFirst() {
      switch state {
      case .values(let groups):
        if name == "[*]" { isMany = true }
        state = .values(groups.flatMap { inside(name, $0) })
      case .objects(let places): (state, isMany) = step(name, places, isMany, &rest)
      }
    }
    switch state {
    case .values(let groups): return Found(groups: groups, isMany: isMany)
    case .objects(let places): return Found(groups: [places.map { $0.map(link) ?? .null }], isMany: isMany)
    }
  }

  private func link(_ place: Place) -> Value {
    .object(ObjectLink(world.catalog[place.type]?.id ?? TableID(0), ObjectKey(place.key)))
  }

  private func held(_ place: Place, _ name: String) -> CollectionWorld.Held? { world.objects[place.type]?[place.key]?[name] }

  private func step(
    _ name: String, _ places: [Place?], _ isMany: Bool, _ rest: inout ArraySlice<String>
  ) -> (State, Bool) {
    let type = name == "addr" || name == "addresses" ? "Address" : "Item"
    func target(_ value: Value) -> Place? {
      if case .link(let key) = value { Place(type: type, key: key.rawValue) } else { nil }
    }
    switch name {
    case "next", "addr":
      let found = places.map { place -> Place? in
        guard let place, case .one(let value)? = held(place, name) else { return nil }
        return target(value)
      }
      return (.objects(isMany ? found.filter { $0 != nil } : found), isMany)
    case "by":
      return sources("links", places, isMany, &rest)
    case "links", "parts", "addresses", "named":
      var key: String?
      if name == "named", let next = rest.first, next.hasPrefix("['") {
        key = String(next.dropFirst(2).dropLast(2))
        rest.removeFirst()
      }
      var position: String?
      if name == "links", let next = rest.first, next == "[0]" || next == "[last]" { position = rest.popFirst() }
      if let position {
        let found = places.map { owner -> Place? in
          guard let owner, case .many(let elements)? = held(owner, name) else { return nil }
          return (position == "[0]" ? elements.first : elements.last).flatMap { target($0.value) }
        }
        return (.objects(isMany ? found.filter { $0 != nil } : found), isMany)
      }
      var found: [Place?] = []
      for owner in places {
        guard let owner, case .many(let elements)? = held(owner, name) else {
          if key != nil { found.append(nil) }
          continue
        }
        if let key { found.append(elements.first { $0.key == key }.flatMap { target($0.value) }) } else {
          found += elements.map { target($0.value) }.filter { $0 != nil }
        }
      }
      if key != nil, !isMany { return (.objects(found), false) }
      return (.objects(found.filter { $0 != nil }), true)
    case "@links":
      _ = rest.popFirst()
      let property = rest.popFirst() ?? ""
      return sources(property, places, isMany, &rest)
    case "nums", "tags", "scores", "mixes", "mm": return collection(name, places, isMany, &rest)
    default:
      return (.values([places.map { place -> Value in
        guard let place, case .one(let value)? = held(place, name) else { return .null }
        return value
      }]), isMany)
    }
  }

  /// The items whose property leads to the places: all of them, or the one at a position.
  private func sources(
    _ property: String, _ places: [Place?], _ isMany: Bool, _ rest: inout ArraySlice<String>
  ) -> (State, Bool) {
    let all = (world.objects["Item"] ?? [:]).sorted { $0.key < $1.key }
    func found(_ reached: Place) -> [Place] {
      all.flatMap { key, row -> [Place] in
        let values: [Value] =
          switch row[property] {
          case .one(let value)?: [value]
          case .many(let elements)?: elements.map(\.value)
          case nil: []
          }
        return values.filter { $0 == .link(ObjectKey(reached.key)) }.map { _ in Place(type: "Item", key: key) }
      }
    }
    guard let position = rest.first, position == "[0]" || position == "[last]" else {
      return (.objects(places.compactMap(\.self).flatMap(found)), true)
    }
    rest.removeFirst()
    let one = places.map { $0.flatMap { position == "[0]" ? found($0).first : found($0).last } }
    return (.objects(isMany ? one.filter { $0 != nil } : one), isMany)
  }

  private func collection(
    _ name: String, _ places: [Place?], _ isMany: Bool, _ rest: inout ArraySlice<String>
  ) -> (State, Bool) {
    let selector = rest.first.flatMap { $0.hasPrefix("[") || $0 == "@keys" ? $0 : nil }
    if selector != nil { rest.removeFirst() }
    var groups: [[Value]] = []
    for place in places {
      var elements: [(key: String, value: Value)] = []
      if let place, case .many(let all)? = held(place, name) { elements = all }
      switch selector {
      case nil, "[*]": groups.append(elements.map(\.value))
      case "@keys": groups.append(elements.map { .string($0.key) })
      case "[0]": groups.append(elements.isEmpty ? [] : [elements[0].value])
      case "[1]": groups.append(elements.isEmpty ? [] : [elements.count > 1 ? elements[1].value : .null])
      case "[last]": groups.append(elements.isEmpty ? [] : [elements[elements.count - 1].value])
      case let key?: groups.append([elements.first { "['\($0.key)']" == key }?.value ?? .null])
      }
    }
    let isOne = selector != nil && selector != "[*]" && selector != "@keys"
    return (.values(groups), isMany || !isOne)
  }

  private func inside(_ step: String, _ group: [Value]) -> [[Value]] {
    switch step {
    case "[*]":
      return group.compactMap { value in
        switch value {
        case .list(let elements): elements
        case .map(let map): map.entries.map(\.value)
        default: nil
        }
      }
    case "[0]", "[1]":
      let at = step == "[0]" ? 0 : 1
      return [group.compactMap { if case .list(let elements) = $0, elements.count > at { elements[at] } else { nil } }]
    default:
      let name = step.hasPrefix("['") ? String(step.dropFirst(2).dropLast(2)) : step
      return [
        group.compactMap { value -> Value? in
          switch value {
          case .map(let map): return map[name] ?? .null
          case .object(let link):
            guard case .one(let found)? = world.objects["Item"]?[link.key.rawValue]?[name] else { return nil }
            return found
          default: return nil
          }
        }
      ]
    }
  }
}
