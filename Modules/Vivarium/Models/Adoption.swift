import StorageInterface
import StoreValues

/// Carries the values of one unmanaged object after another into a store: a row that is used again and again, no
/// box, no dictionary.
public final class Adoption {
  /// A link or collection that is set once the object and its targets are in the store: so cycles work.
  struct Pending {
    enum Shape {
      case link
      case list
      case set
      /// The keys of the elements.
      case map([String])
    }

    var ordinal: Int
    var elements: PendingElements
    var shape: Shape
  }

  @usableFromInline let row: RowBuffer
  /// The row's slot of each property.
  @usableFromInline let slots: UnsafeMutablePointer<Int>
  private let schema: ObjectSchema
  var pending: [Pending] = []
  /// Ordinals of required properties without a value; collected only while `collectsMissing`.
  var missing: [Int] = []
  var collectsMissing = false
  /// Who observed the object before: they go with it.
  public var observers: UnmanagedObservers?
  /// The store that the object goes into, and why it cannot.
  let store: StoreIdentity
  private var fault: StoreError?
  /// Whether an empty list is a value to write: when the row may overwrite a stored object.
  var keepsEmptyLists = false
  /// The value to write over a stored one of a property, whose name is for people.
  typealias Merge = (_ stored: Value, _ place: String) throws(StoreError) -> Value
  /// Of properties whose values are not written over whole.
  private(set) var merges: [(ordinal: Int, merge: Merge)] = []

  convenience init(_ entry: TableEntry, _ context: ModelContext) {
    self.init(entry, context.schema, of: context.store.identity)
  }

  init(_ entry: TableEntry, _ schema: ObjectSchema, of store: StoreIdentity) {
    row = RowBuffer(entry)
    self.schema = schema
    self.store = store
    let count = schema.properties.count
    slots = .allocate(capacity: max(count, 1))
    slots.initialize(repeating: 0, count: max(count, 1))
    for (ordinal, property) in schema.properties.enumerated() {
      slots[ordinal] = entry.columns.firstIndex { $0.schema.name == property.name } ?? 0
    }
  }

  deinit { slots.deallocate() }

  func reset() {
    row.reset()
    if !pending.isEmpty { pending = [] }
    if !missing.isEmpty { missing = [] }
    if !merges.isEmpty { merges = [] }
    if observers != nil { observers = nil }
    if fault != nil { fault = nil }
  }

  /// A value cannot be carried over; `checkValues` throws it once all were asked.
  func refuse(_ error: StoreError) { fault = fault ?? error }

  /// Says how a value is written over the one of an object that is there.
  func willMerge(_ ordinal: Int, _ merge: @escaping Merge) {
    if keepsEmptyLists { merges.append((ordinal, merge)) }
  }

  func checkValues() throws(StoreError) { if let fault { throw fault } }

  /// For the code that `@Model` writes: takes over a property's value.
  @inlinable public func put<T: Persistable>(_ value: T, _ ordinal: Int) { T._$put(self, ordinal, value) }

  /// For the code that `@Model` writes: takes over a required property's value. `.missingValue` where it was never set.
  @inlinable public func put<T: Scalar>(required value: T?, _ ordinal: Int) throws(StoreError) {
    guard let value else { return try miss(ordinal) }
    T._$put(self, ordinal, value)
  }

  @usableFromInline func miss(_ ordinal: Int) throws(StoreError) {
    guard collectsMissing else {
      throw .missingValue(type: schema.name, property: schema.properties[ordinal].name)
    }
    missing.append(ordinal)
  }
}

/// What goes into a link or list: values as they are, or objects that may have to be added first.
public enum PendingElements {
  case values([Value])
  case objects([any Model])
  /// Which may link to objects.
  case mixed([AnyValue])
  /// Which may refuse to be stored.
  case structs([any PersistableStruct])
}
