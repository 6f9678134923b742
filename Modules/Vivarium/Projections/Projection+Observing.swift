import Notifications
import StoreValues

extension ModelProjection {
  /// Observes the object, but reports only projected properties, by the projection's names: a value behind a link is reported as
  /// the projected property with its old and new value. Throws `.unknownProperty` if a projected property is computed, because its
  /// changes cannot be determined.
  public var _$source: ObservationSource<ObjectChange> {
    let source = Self.projecting(object._$source) { self }
    guard let store = source.store else { return source }
    let (object, projected) = (object, projected)
    return ObservationSource(store, check: source.check) { request, block in
      let shown = ShownValues(object, projected)
      let token = source.start(request) { change in
        guard case .change(let properties) = change else { return block(change) }
        let changes = shown.changes(properties)
        if !changes.isEmpty { block(.change(changes)) }
      }
      store.follow(token) { isHere in if isHere { shown.read() } else { shown.forget() } }
      return token
    } reference: {
      let key = object._$key
      return { store in
        let object: Root = store.live(key)
        return Self(object)._$source
      }
    }
  }

  /// A source whose options use the names of a projection.
  static func projecting<Change>(
    _ source: ObservationSource<Change>, _ sample: @escaping () -> Self
  ) -> ObservationSource<Change> {
    guard let store = source.store else { return source }
    return ObservationSource(store) { (options) throws(StoreError) in
      try source.check(sample().translated(options))
    } start: { request, block in
      var request = request
      do throws(StoreError) { request.options = try sample().translated(request.options) } catch {
        request.options.refuse(error)
      }
      return source.start(request, block)
    } reference: {
      let find = source.reference()
      return { store in Self.projecting(find(store)) { Self(Root(_$blank: ())) } }
    }
  }

  /// Translates options with the projection's names to the object's names. Throws `.unknownProperty`.
  private func translated(_ options: ObservationOptions) throws(StoreError) -> ObservationOptions {
    if options.fault != nil { return options }
    var names = options.properties
    if !options.ignored.isEmpty {
      for name in options.ignored where !projected.contains(where: { $0.name == name }) { throw .unknownKeyPath(name, of: "\(Self.self)") }
      names = (names ?? projected.map(\.name)).filter { !options.ignored.contains($0) }
    }
    var translated = options
    translated.ignored = []
    translated.properties = try paths(of: names)
    return translated
  }
}

/// The values that an observer of a projection knows: it was notified of them, or wrote them. Confined to the store's context.
private final class ShownValues {
  private let object: Any
  private let projected: [(name: String, property: any AnyProjected)]
  /// nil where the object's observer knows the value.
  private var values: [Value?]
  /// The positions of values that somebody else may have told: every change of them is reported.
  private var unknown: Set<Int> = []

  init(_ object: some Model, _ projected: [(name: String, property: any AnyProjected)]) {
    self.object = object
    self.projected = projected
    // A change behind a property is reported under that property's name, which may also be projected by itself.
    let passed = Set(projected.compactMap { $0.property.names.count > 1 ? $0.property.names.first : nil })
    values = projected.map { _, property in
      let isPassed = property.names.first.map(passed.contains) ?? false
      return property.names.count > 1 || isPassed ? Value(shown: property.value(of: object)) : nil
    }
  }

  /// What the object shows now is known.
  func read() {
    for position in values.indices where values[position] != nil {
      values[position] = Value(shown: projected[position].property.value(of: object))
    }
    unknown = []
  }

  /// It is not known any longer what the observer knows.
  func forget() { unknown = Set(values.indices.filter { values[$0] != nil }) }

  func changes(_ properties: [PropertyChange]) -> [PropertyChange] {
    var changes: [PropertyChange] = []
    for (position, (name, property)) in projected.enumerated() {
      guard let change = properties.first(where: { $0.name == property.names.first }) else { continue }
      var old = values[position]
      if old != nil {
        let value = Value(shown: property.value(of: object))
        let isUnknown = unknown.remove(position) != nil
        if value == old, !isUnknown { continue }
        values[position] = value
        if isUnknown { old = nil }
      }
      if property.names.count == 1 {
        changes.append(
          PropertyChange(
            name: name, oldValue: change.oldValue, newValue: change.newValue, elements: change.elements,
            details: change.details))
      } else {
        changes.append(
          PropertyChange(name: name, oldValue: old, newValue: values[position], elements: nil, details: change.details))
      }
    }
    return changes
  }
}

extension Value {
  /// The boxed form of what a projection shows: a scalar, a link, or a list of these.
  fileprivate init(shown given: Any?) {
    switch Value.unwrapped(given) {
    case let scalar as any Scalar: self = scalar.persistedValue
    case let object as any Model: self = .link(ObjectKey(object._$key))
    case let elements as [Any?]: self = .list(elements.map { Value(shown: $0) })
    case let elements as any KeyValueCollection: self = .list(elements.untypedElements.map { Value(shown: $0) })
    default: self = .null
    }
  }
}
