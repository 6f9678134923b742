import ChangeTracker
import StorageInterface
import StoreValues

/// The behaviour of `add` for an object whose primary key is already in the store.
public enum UpdatePolicy: Sendable, Hashable {
  /// Throws `.primaryKeyExists`; the transaction can continue.
  case error
  /// Writes the differing properties to the stored object.
  case modified
  /// Writes all properties to the stored object, and rewrites lists. Setting a scalar to an equal value is still no change.
  case all
}

extension Store {
  /// Moves an unmanaged object into the store, with all unmanaged objects it links to, cycles included. The instance itself becomes
  /// the live object. An object of this store is left as it is.
  ///
  /// Throws `.notInWrite`, `.primaryKeyExists`, `.uniqueViolation`, `.missingValue`, `.wrongStore`, `.objectDeleted`,
  /// `.unknownType`; `.embeddedAlone` for an object of an embedded type, which is added with its owner. On an error the store is as
  /// before the call, also what an update policy has changed in stored objects.
  public func add<T: Model>(_ object: T, update: UpdatePolicy = .error) throws(StoreError) {
    try addAny(object, update, isAlone: true)
  }

  private func addAny<T: Model>(_ object: T, _ update: UpdatePolicy, isAlone: Bool) throws(StoreError) {
    let write = try openWrite(for: "Adding a \(T._$name)")
    let context = context(T.self)
    if isAlone, context.isEmbedded { throw .embeddedAlone(T._$name) }
    if object._$raw != nil { return try checkOwn(object) }
    // New objects can be deleted again; what was changed in stored ones needs a savepoint.
    if update == .error { return try addWhole(object, context, update, write) }
    try undoneOnFailure(write) { () throws(StoreError) in try addWhole(object, context, update, write) }
  }

  private func addWhole<T: Model>(
    _ object: T, _ context: ModelContext, _ update: UpdatePolicy, _ write: RecordedTransaction
  ) throws(StoreError) {
    let added = try insert(object, context, update, write)
    if !added.pending.isEmpty { return try addLinked(added, update, write) }
    writer.edits.added?.append(added)
    added.settle()
    if !added.isNew, observing.hasProperties { notifyOfAdded([added]) }
  }

  /// Adds the objects one by one. The first that cannot be added throws; those before it remain added.
  public func add<S: Sequence>(
    _ objects: S, update: UpdatePolicy = .error
  ) throws(StoreError) where S.Element: Model {
    for object in objects { try add(object, update: update) }
  }

  /// The key of an object of this store; adds an unmanaged one first.
  func keyOfAdded<T: Model>(_ object: T) throws(StoreError) -> Int64 {
    if object._$raw == nil {
      try addAny(object, .error, isAlone: false)
    } else {
      try checkOwn(object)
      if context(T.self).isEmbedded { try checkUnowned(object, openWrite(for: "Linking a \(T._$name)")) }
    }
    return object._$key
  }

  /// Throws `.alreadyOwned` if an embedded object has an owner: it can have only one.
  private func checkUnowned<T: Model>(_ object: T, _ write: RecordedTransaction) throws(StoreError) {
    guard context(T.self).isEmbedded else { return }
    let isOwned = try storing { () throws(StorageError) in
      try write.isOwned(context(T.self).table, ObjectKey(object._$key))
    }
    if isOwned { throw .alreadyOwned(T._$name) }
  }

  private func checkOwn<T: Model>(_ object: T) throws(StoreError) {
    guard let context = object.context else { return }
    guard context.store.shared === shared else {
      throw .wrongStore("The \(T._$name) object")
    }
    try self.context(T.self).check(object._$key)
  }
}

// MARK: - One object

/// An object that was just moved into the store.
struct AddedObject {
  let object: any Model

  let context: ModelContext
  let key: Int64
  fileprivate let pending: [Adoption.Pending]
  /// Its values as an unmanaged object, to restore if the rest fails.
  fileprivate let values: AnyObject?
  /// Whether it did not update an existing object.
  fileprivate let isNew: Bool
  /// Its observers from before it was added.
  fileprivate let observers: UnmanagedObservers?

  /// Nothing can fail any more: moves the observers to the managed object.
  fileprivate func settle() { observers?.enter(context, key) }
}

extension Store {
  private func insert<T: Model>(
    _ object: T, _ context: ModelContext, _ update: UpdatePolicy, _ write: RecordedTransaction, over part: ObjectKey? = nil
  ) throws(StoreError) -> AddedObject {
    let adoption = try context.adoption(in: write)
    adoption.keepsEmptyLists = update != .error
    try object._$fill(adoption)
    try adoption.checkValues()
    let (values, observers) = (object._$owner, adoption.observers)
    adoption.observers = nil
    let (key, isNew) = try insert(adoption, context, update, write, over: part)
    object._$raw = context.raw
    object._$key = key
    object._$owner = self
    let pending = adoption.pending
    // The row is kept for the next object, and objects retain their store: together they would form a retain cycle.
    adoption.pending = []
    return AddedObject(
      object: object, context: context, key: key, pending: pending, values: values, isNew: isNew, observers: observers)
  }

  /// Inserts a filled row, or writes it to the given object, or to the one with the same primary key. If it throws, some of the values may
  /// be written: the caller undoes them.
  func insert(
    _ adoption: Adoption, _ context: ModelContext, _ update: UpdatePolicy, _ write: RecordedTransaction, over part: ObjectKey? = nil
  ) throws(StoreError) -> (key: Int64, isNew: Bool) {
    if let part {
      try overwrite(part, with: adoption, context, write)
      return (part.rawValue, false)
    }
    do throws(StorageError) {
      let key = try write.insert(adoption.row)
      didChange(context, membership: true)
      return (key.rawValue, true)
    } catch {
      let primaryKey = context.primaryKey.map { adoption.value(at: $0, context) }
      guard error.code == .uniqueViolation, error.index == context.primaryIndex, update != .error,
        let existing = error.conflictingKey
      else {
        throw StoreError(error, in: write.transaction.catalog, type: context.schema.name, value: primaryKey)
      }
      try overwrite(existing, with: adoption, context, write)
      return (existing.rawValue, false)
    }
  }

  private func overwrite(
    _ key: ObjectKey, with adoption: Adoption, _ context: ModelContext, _ write: RecordedTransaction
  ) throws(StoreError) {
    let linked = Set(adoption.pending.map(\.ordinal))
    for (ordinal, merge) in adoption.merges {
      let stored = try storing { () throws(StorageError) in try write.transaction.value(context.columns[ordinal], key) }
      let place = "\(context.schema.name).\(context.properties[ordinal].schema.name)"
      adoption.row.set(adoption.slots[ordinal], try merge(stored, place))
    }
    var ordinals = context.properties.indices.filter { ordinal in
      context.properties[ordinal].schema.isScalar && ordinal != context.primaryKey && !linked.contains(ordinal)
    }
    var changed: [Int] = []
    defer {
      didChange(context)
      for ordinal in changed { context.didChangeValue(key.rawValue, ordinal) }
    }
    do throws(StorageError) {
      while !ordinals.isEmpty { ordinals = try setAll(ordinals, key, adoption, context, write, &changed) }
    } catch {
      throw StoreError(error, in: write.transaction.catalog, type: context.schema.name, key: key.rawValue)
    }
  }

  /// Sets values and returns those rejected for now: a unique index over several of them may accept them once the others are set.
  /// Throws if none could be set.
  private func setAll(
    _ ordinals: [Int], _ key: ObjectKey, _ adoption: Adoption, _ context: ModelContext, _ write: RecordedTransaction,
    _ changed: inout [Int]
  ) throws(StorageError) -> [Int] {
    var refused: [Int] = []
    var violation: StorageError?
    for ordinal in ordinals {
      do throws(StorageError) {
        if try write.set(context.properties[ordinal].column, key, adoption.value(at: ordinal, context)) { changed.append(ordinal) }
      } catch {
        guard error.code == .uniqueViolation else { throw error }
        violation = error
        refused.append(ordinal)
      }
    }
    if let violation, refused.count == ordinals.count { throw violation }
    return refused
  }
}

extension Adoption {
  /// The row's value of a scalar property.
  func value(at ordinal: Int, _ context: ModelContext) -> Value { value(at: ordinal, context.properties[ordinal].schema) }

  func value(at ordinal: Int, _ property: PropertySchema) -> Value {
    let slot = slots[ordinal]
    guard case .scalar(let type) = property.kind, !row.isNull(slot) else { return .null }
    return (type.isWord ? Value(word: row.word(slot), type: type) : Value(bytes: row.bytes(slot), type: type)) ?? .null
  }
}

// MARK: - What it links to

extension Store {
  /// Adds the objects that an added object links to, and sets the links. Uses a work list instead of recursion: a chain of a
  /// million objects is legal.
  private func addLinked(
    _ first: AddedObject, _ update: UpdatePolicy, _ write: RecordedTransaction
  ) throws(StoreError) {
    var done = [first]
    var next = 0
    do throws(StoreError) {
      while next < done.count {
        let added = done[next]
        next += 1
        for pending in added.pending {
          var values: [Value]
          switch pending.elements {
          case .values(let scalars): values = scalars
          case .mixed(let elements):
            values = []
            for element in elements { values.append(try element._$elementValue(self)) }
          case .structs(let elements): values = try merged(elements, of: added, pending, write)
          case .objects(let objects):
            values = []
            let parts = update == .modified ? try parts(of: added, pending, write) : []
            for (at, object) in objects.enumerated() {
              if object._$raw == nil {
                done.append(try insertAny(object, update, write, over: at < parts.count ? parts[at] : nil))
              } else {
                try checkOwn(object)
                try checkUnowned(object, write)
              }
              values.append(.link(ObjectKey(object._$key)))
            }
          }
          try link(added, pending, values, update, write)
        }
      }
    } catch {
      takeBack(done, write, after: error)
      throw error
    }
    writer.edits.added?.append(contentsOf: done)
    for added in done { added.settle() }
    if observing.hasProperties { notifyOfAdded(done) }
  }

  /// Sets the links and collections that a new object, made without an instance, has by default, and adds the objects in them. If it
  /// throws, the object is gone.
  func addLinked<T: Model>(
    _ pending: [Adoption.Pending], of type: T.Type, _ key: Int64, _ update: UpdatePolicy, _ write: RecordedTransaction
  ) throws(StoreError) {
    if pending.isEmpty { return }
    let object: T = live(key)
    let added = AddedObject(
      object: object, context: context(type), key: key, pending: pending, values: nil, isNew: true, observers: nil)
    try addLinked(added, update, write)
  }

  /// Notifies observers of properties of what the addition changed in existing objects: inverses that now include the added ones,
  /// or their own values. In other objects only derived properties are compared.
  private func notifyOfAdded(_ added: [AddedObject]) {
    let updated = added.filter { !$0.isNew }
    if !updated.isEmpty {
      // An object's embedded objects are deleted when replaced. Checked only if the store uses an embedded type.
      let mayDelete = allContexts.contains(where: \.isEmbedded)
      let touched = updated.map { ObjectPlace(table: $0.context.table, key: $0.key) }
      return checkPropertyObservers(of: mayDelete ? nil : Set(touched))
    }
    var columns: Set<ColumnID> = []
    for added in added { for pending in added.pending { columns.insert(added.context.columns[pending.ordinal]) } }
    for column in columns { checkInverses(of: column) }
  }

  private func insertAny<T: Model>(
    _ object: T, _ update: UpdatePolicy, _ write: RecordedTransaction, over part: ObjectKey?
  ) throws(StoreError) -> AddedObject {
    try insert(object, context(T.self), update, write, over: part)
  }

  /// Structs in stored form. In an updated object they keep what the program does not know of those whose places they take.
  private func merged(
    _ elements: [any PersistableStruct], of added: AddedObject, _ pending: Adoption.Pending, _ write: RecordedTransaction
  ) throws(StoreError) -> [Value] {
    let property = added.context.properties[pending.ordinal]
    let (column, key, place) = (property.column, ObjectKey(added.key), "\(added.context.schema.name).\(property.schema.name)")
    var values: [Value] = []
    switch pending.shape {
    case .list where !added.isNew:
      guard let first = elements.first else { return [] }
      let stored = try storing { () throws(StorageError) in try write.transaction.values(column, key, 0..<Int.max) }
      return try type(of: first).merged(elements, into: stored, at: place)
    case .map(let names) where !added.isNew:
      for (name, element) in zip(names, elements) {
        let stored = try storing { () throws(StorageError) in try write.transaction.value(forKey: name, in: column, key) }
        values.append(try element.merged(into: stored ?? .null, at: place))
      }
    default: for element in elements { values.append(try element.encoded()) }
    }
    return values
  }

  /// The embedded objects that an updated object has at the positions of the given ones; nil for a position without one. They take
  /// over the new values, so that an equal one stays unchanged.
  private func parts(
    of added: AddedObject, _ pending: Adoption.Pending, _ write: RecordedTransaction
  ) throws(StoreError) -> [ObjectKey?] {
    let property = added.context.properties[pending.ordinal]
    let catalog = write.transaction.catalog
    guard !added.isNew, let target = property.schema.target, catalog[target]?.isEmbedded == true else { return [] }
    let (column, key) = (property.column, ObjectKey(added.key))
    return try storing { () throws(StorageError) in
      switch pending.shape {
      case .link: return [try write.transaction.word(column, key).map { ObjectKey($0) }]
      case .list, .set:
        let count = try write.transaction.elementCount(column, key)
        return try write.transaction.values(column, key, 0..<count).map { $0.word.map { ObjectKey($0) } }
      case .map(let keys):
        var parts: [ObjectKey?] = []
        for name in keys {
          let at = try write.transaction.position(of: .string(name), in: column, key)
          let value = try at.map { at throws(StorageError) in try write.transaction.values(column, key, at..<at + 1) }
          parts.append(value?.first?.word.map { ObjectKey($0) })
        }
        return parts
      }
    }
  }

  private func link(
    _ added: AddedObject, _ pending: Adoption.Pending, _ values: [Value], _ update: UpdatePolicy,
    _ write: RecordedTransaction
  ) throws(StoreError) {
    let column = added.context.properties[pending.ordinal].column
    let key = ObjectKey(added.key)
    let isChanged = try storing { () throws(StorageError) in
      switch pending.shape {
      case .link: return try write.set(column, key, word: values.first?.word)
      case .set:
        if !added.isNew { try write.replaceSet(column, key, values) } else {
          for value in values { try write.insert(member: value, into: column, key) }
        }
      case .map(let keys):
        let entries = zip(keys, values).map { ValueMap.Entry($0, $1) }
        if !added.isNew { try write.replaceMap(column, key, entries, asDictionary: pending.isDictionary) } else {
          for entry in entries { try write.set(entry.value, forKey: entry.key, in: column, key) }
        }
      case .list:
        let count = added.isNew ? 0 : try write.transaction.elementCount(column, key)
        if update == .modified, !added.isNew { return try replaceDiffering(column, key, count, values, write) }
        if count > 0 { try write.edit(column, key, .clear) }
        try write.edit(column, key, .insert(at: 0, values))
      }
      return true
    }
    guard isChanged else { return }
    didChange(added.context)
    if !added.isNew { added.context.didChangeValue(added.key, pending.ordinal) }
  }

  /// Replaces the elements between the common prefix and suffix. Returns whether there were any.
  private func replaceDiffering(
    _ column: ColumnID, _ key: ObjectKey, _ count: Int, _ values: [Value], _ write: RecordedTransaction
  ) throws(StorageError) -> Bool {
    let old = try write.transaction.values(column, key, 0..<count)
    let start = zip(old, values).prefix { $0 == $1 }.count
    let limit = min(old.count, values.count) - start
    let end = zip(old.reversed(), values.reversed()).prefix { $0 == $1 }.prefix(limit).count
    let (gone, new) = (start..<old.count - end, Array(values[start..<values.count - end]))
    if gone.isEmpty, new.isEmpty { return false }
    if !gone.isEmpty { try write.edit(column, key, .remove(gone)) }
    if !new.isEmpty { try write.edit(column, key, .insert(at: start, new)) }
    return true
  }

  /// Undoes the additions of a call that failed: the objects are unmanaged again. What they have changed in stored objects is undone by a
  /// savepoint.
  func takeBack(_ done: [AddedObject], _ write: RecordedTransaction, after cause: StoreError) {
    if done.isEmpty { return }
    for added in done.reversed() {
      if added.isNew {
        // Delete rules are for objects that were there: they would delete, or keep, what this one was only about to link. If it cannot be
        // deleted, the write has failed as a whole, because of what failed first.
        do throws(StorageError) { try write.deleteAlone(added.context.table, ObjectKey(added.key)) } catch { refuse(cause) }
      }
      let object = added.object
      object._$raw = nil
      object._$key = 0
      object._$owner = added.values
    }
    didChangeEverything()
  }
}
