import StorageInterface
import StoreValues

extension ModelContext {
  /// The place where a value can be read.
  enum Location {
    /// The property's window is open and has this row.
    case window(row: Int)
    /// The engine has no windows; the object exists.
    case point
    /// The object does not exist; already reported.
    case nothing
  }

  /// Opens the window of a property around a key, if the engine lends windows.
  func locate(_ key: Int64, _ ordinal: Int) -> Location {
    do throws(StorageError) {
      let column = columns[ordinal]
      guard let windowed = store.windowed else {
        if try store.reading.contains(table, ObjectKey(key)) { return .point }
        store.readOfNothing(.objectDeleted(type: schema.name, key: key))
        return .nothing
      }
      guard let window = try windowed.window(column, containing: ObjectKey(key)) else {
        store.readOfNothing(.objectDeleted(type: schema.name, key: key))
        return .nothing
      }
      open(window, ordinal)
      store.reader.hasWindows = true
      return .window(row: Int(key - window.firstKey))
    } catch {
      store.misuse(StoreError(error))
      return .nothing
    }
  }

  /// The stored word; nil for null, or no object.
  func word(_ key: Int64, _ ordinal: Int) -> Int64? {
    let window = raw.pointee.windows + ordinal
    var row = window.pointee.row(of: key)
    if row == nil {
      // Far from the last row read: most likely the only row wanted there, so a window would cost more.
      if !window.pointee.isNear(key) {
        window.pointee.lastKey = key
        do throws(StorageError) { return try store.reading.word(columns[ordinal], ObjectKey(key)) } catch {
          if error.code == .objectDeleted {
            store.readOfNothing(.objectDeleted(type: schema.name, key: key))
          } else {
            store.misuse(StoreError(error))
          }
          return nil
        }
      }
      switch locate(key, ordinal) {
      case .window(let found): row = found
      case .point: return store.reported(try store.reading.word(columns[ordinal], ObjectKey(key))) ?? nil
      case .nothing: return nil
      }
    }
    guard let row, !window.pointee.vector.isNull(at: row) else { return nil }
    return window.pointee.vector.word(at: row)
  }

  /// Whether the object is in the store's version. False, and reported, if that cannot be read.
  func lives(_ key: Int64) -> Bool { store.reported(try store.reading.contains(table, ObjectKey(key))) ?? false }

  /// Throws `.objectDeleted` if the object is deleted.
  func check(_ key: Int64) throws(StoreError) {
    do throws(StorageError) {
      if try store.reading.contains(table, ObjectKey(key)) { return }
    } catch {
      throw StoreError(error)
    }
    throw .objectDeleted(type: schema.name, key: key)
  }

  /// A scalar as a boxed value; null if there is no object.
  func value(_ key: Int64, _ ordinal: Int) -> Value {
    if properties[ordinal].schema.derivation != nil { store.settleDerived() }
    do throws(StorageError) {
      return try store.reading.value(properties[ordinal].column, ObjectKey(key))
    } catch {
      let error = StoreError(error, type: schema.name, key: key)
      if error.code == .objectDeleted { store.readOfNothing(error) } else { store.misuse(error) }
      return .null
    }
  }
}
