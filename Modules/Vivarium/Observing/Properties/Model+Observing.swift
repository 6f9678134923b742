import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

extension Model {
  /// Reports the properties with changed values, whoever changed them, and finally the deletion of the object. Several commits are
  /// reported in one call, with the values at the last call and the present ones.
  ///
  /// ```swift
  /// token = jane.observe { change in
  ///   if case .change(let properties) = change { for p in properties { print(p.name, p.oldValue, p.newValue) } }
  /// }
  /// ```
  ///
  /// If `ObservationOptions` name properties, other properties are not reported and cause no call; deletion always is reported. A
  /// change behind a link is reported as a change of the link, whose value stays the same. A named inverse is reported when other
  /// objects link here, with the first of them as its value.
  ///
  /// The object must be in a store, and not only in an open write; otherwise the block receives an error. Any number of objects may
  /// be observed: a commit costs what it changed, not how many there are.
  public var _$source: ObservationSource<ObjectChange> {
    guard let store else {
      return ObservationSource(
        unmanaged: StoreError(.wrongStore, "A \(Self._$name) that is in no store cannot be observed by a store."))
    }
    return ObservationSource(store) { (options) throws(StoreError) in
      _ = try self.filter(options)
    } start: { self.watch($0, $1) } reference: {
      let key = self._$key
      return { store in
        let object: Self = store.live(key)
        return object._$source
      }
    }
  }

  /// Observes only some properties: `observe(keyPaths: [\.name])`. Paths that are not persisted properties are reported as
  /// `.error`.
  public func observe(
    keyPaths: [PartialKeyPath<Self>], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ block: @escaping (ObjectChange) -> Void
  ) -> NotificationToken {
    observe(options: ObservationOptions(keyPaths: keyPaths), isolation: isolation, fileID: fileID, line: line, block)
  }

  /// The parts of the object that count; nil if the type is not in the store.
  private func filter(_ options: ObservationOptions) throws(StoreError) -> ResultFilter? {
    guard let observed = context.flatMap({ ObservedProperties(Self._$name, in: $0.store) }) else { return nil }
    var options = options
    if options.fault == nil, options.properties == nil, (options.linkDepth ?? 0) <= 0 {
      options.properties = Self._$schema.properties.filter(\.isStored).map(\.name)
    }
    return try observed.filter(options)
  }

  /// The ordinals of the to-one inverses.
  private static var inversesToOne: [Int] { _$schema.properties.indices.filter { isInverseToOne($0) } }

  private static func isInverseToOne(_ ordinal: Int) -> Bool {
    _$schema.properties[ordinal].isInverse && type(of: _$keyPaths[ordinal]).valueType is any ToOneEnd.Type
  }

  /// Whether a property is a to-one inverse.
  static func isInverseToOne(_ name: String) -> Bool {
    _$schema.properties.firstIndex { $0.name == name }.map { isInverseToOne($0) } ?? false
  }

  private func watch(
    _ request: ObservationRequest, _ block: @escaping (ObjectChange) -> Void
  ) -> NotificationToken {
    guard let context else { return request.ended }  // a source has a store
    let store = context.store
    do throws(StoreError) {
      try context.check(_$key)
      guard let filter = try filter(request.options) else { throw .unknownType(Self._$name) }
      guard try storing({ () throws(StorageError) in try store.snapshot.contains(context.table, ObjectKey(_$key)) }) else {
        throw StoreError(
          .alreadyInWrite, "The \(Self._$name) object was added in the open write, and nobody hears of a write before its end.",
          remedy: "Observe it after the commit.")
      }
      let properties = ObservedValues(context, _$key, filter, inversesToOne: Self.inversesToOne)
      let watch = ObjectWatch(
        .properties(filter), table: context.table, key: ObjectKey(_$key), at: store.snapshot.version,
        lists: properties.lists(), members: properties.members(), identity: context.identity(of: _$key),
        store.deliveryPlace())
      let observer = WatchObserver(
        watch, request,
        notify: { offer, store in
          switch offer.content {
          case .initial: break
          case .deleted: block(.deleted)
          case .failed(let error): block(.error(StoreError(error)))
          case .touched(let touched, let leading, let elements):
            properties.key = offer.watch.key.rawValue
            var changes = properties.changes(offer.known, touched, leading, elements)
            if changes.isEmpty { break }
            let details = ChangeDetails(offer, own: store.origin)
            for i in changes.indices { changes[i].details = details }
            block(.change(changes))
          }
        },
        rebase: { _ in
          properties.key = watch.key.rawValue
          properties.read()
        }, fail: { block(.error($0)) })
      return store.add(observer, request)
    } catch {
      let observer = WatchObserver(
        nil, request, fault: error, notify: { _, _ in }, rebase: { _ in }, fail: { block(.error($0)) })
      return store.add(observer, request)
    }
  }
}

extension ModelContext {
  /// The primary key of an object, and the index that finds it; nil for a type without one.
  fileprivate func identity(of key: Int64) -> (index: IndexID, value: Value)? {
    guard let primaryKey, let primaryIndex else { return nil }
    return (primaryIndex, value(key, primaryKey))
  }
}

/// The values of an object last reported to its observer. Confined to the store's context; does not retain the store.
private final class ObservedValues {
  private unowned let context: ModelContext
  /// Changes when an object with the same primary key replaces a deleted one.
  var key: Int64
  private let filter: ResultFilter
  private let inversesToOne: [Int]
  /// By ordinal; null if the property is not watched or not scalar.
  private var values: [Value] = []

  init(_ context: ModelContext, _ key: Int64, _ filter: ResultFilter, inversesToOne: [Int]) {
    self.context = context
    self.key = key
    self.filter = filter
    self.inversesToOne = inversesToOne
    read()
  }

  private func isWatched(_ ordinal: Int) -> Bool {
    let property = context.properties[ordinal]
    if let origin = property.origin { return filter.paths.contains { $0.hops.first?.followedBack == origin } }
    return property.schema.isScalar && filter.properties.contains(property.column.property)
  }

  /// The value of a scalar; for an inverse, the first object that links here.
  private func value(_ property: ModelContext.BoundProperty, in reading: any StorageReading) -> Value {
    if let origin = property.origin {
      return (context.store.reported(try reading.firstSource(of: ObjectKey(key), through: origin)) ?? nil).map { .link($0) } ?? .null
    }
    return context.store.reported(try reading.value(property.column, ObjectKey(key))) ?? .null
  }

  /// Whether changes of the objects behind an inverse count.
  private func looksBehind(_ inverse: ModelContext.BoundProperty) -> Bool {
    filter.paths.contains { path in
      guard let origin = inverse.origin, path.hops.first?.followedBack == origin else { return false }
      return path.hops.count > 1 || path.properties != path.backlinks
    }
  }

  /// Reads the values at the store's version. Changes of an open write are reported after its commit.
  func read() {
    let snapshot = context.store.snapshot
    values = context.properties.enumerated().map { ordinal, property in
      isWatched(ordinal) ? value(property, in: snapshot) : .null
    }
  }

  /// The present state of the watched lists.
  func lists() -> [PropertyID: NetListChanges] {
    collections { schema, count in schema.isList ? NetListChanges(count: count) : nil }
  }

  /// The present state of the watched sets and maps.
  func members() -> [PropertyID: NetMemberChanges] {
    collections { schema, count in schema.isList ? nil : NetMemberChanges(count: count, isMap: schema.isMap) }
  }

  private func collections<T>(_ make: (PropertySchema, Int) -> T?) -> [PropertyID: T] {
    var made: [PropertyID: T] = [:]
    for property in context.properties where property.schema.isCollection {
      guard filter.properties.contains(property.column.property) else { continue }
      let count = context.store.reported(try context.store.snapshot.elementCount(property.column, ObjectKey(key)))
      made[property.column.property] = make(property.schema, count ?? 0)
    }
    return made
  }

  /// The changes since the last report, in the order of the model; marks them as reported. `known` has values that the observer
  /// knows without having been notified.
  func changes(
    _ known: [PropertyID: Value], _ touched: PropertySet, _ leading: PropertySet,
    _ collections: [PropertyID: WatchOffer.ElementsOffer]
  ) -> [PropertyChange] {
    var changes: [PropertyChange] = []
    for (ordinal, property) in context.properties.enumerated() {
      let id = property.column.property
      if isWatched(ordinal), let value = known[id] { values[ordinal] = value }
      guard touched.contains(id) || leading.contains(id) else { continue }
      if property.schema.isInverse {
        guard isWatched(ordinal) else { continue }
        let value = value(property, in: context.store.reading)
        // With a to-one inverse only the first object counts, so another object that links here changes nothing.
        if value == values[ordinal], inversesToOne.contains(ordinal), !looksBehind(property) { continue }
        changes.append(PropertyChange(name: property.schema.name, oldValue: values[ordinal], newValue: value, elements: nil))
        values[ordinal] = value
      } else if property.schema.isScalar {
        let value = isWatched(ordinal) ? context.value(key, ordinal) : .null
        if value == values[ordinal], !leading.contains(id) { continue }
        changes.append(PropertyChange(name: property.schema.name, oldValue: values[ordinal], newValue: value, elements: nil))
        values[ordinal] = value
      } else {
        let found = collections[id]
        if found?.positions.isEmpty == true, !leading.contains(id) { continue }
        let set = found?.positions ?? ChangeSet()
        let elements = ElementChanges(
          deletions: set.deletions, insertions: set.insertions, modifications: set.modifications,
          members: found?.members ?? ChangedMembers())
        changes.append(PropertyChange(name: property.schema.name, oldValue: nil, newValue: nil, elements: elements))
      }
    }
    return changes
  }
}
