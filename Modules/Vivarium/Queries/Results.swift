import QueryModel
import StorageInterface
import StoreValues

/// Live objects of one type that pass a condition, in an order. Only a description until it is first read; always current for the
/// store's version.
///
/// ```swift
/// let adults = store.objects(Person.self).where { $0.age >= 18 }.sorted(by: \.name)
/// ```
///
/// Cheap to make and to copy. Evaluated on the caller, at the first read and again after commits, by any writer, that touched what
/// it reads; during a write it sees the write. Iteration uses the result as it was when it began, and skips objects deleted
/// meanwhile.
public struct Results<Element: Model>: RandomAccessCollection {
  @usableFromInline let state: ResultsState

  @inlinable init(_ state: ResultsState) { self.state = state }

  init(_ store: Store, at place: SourcePlace? = nil) {
    self.init(ResultsState(store, store.context(Element.self), Query(type: Element._$name), .all, at: place))
  }

  /// The store that is read.
  public var store: Store { state.store }

  /// The error that makes these results empty; nil if the query is valid.
  public var error: StoreError? { state.error }

  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
  /// O(1) for all objects of a type; otherwise evaluates the query, unless it was evaluated in this version.
  public var count: Int { state.count }
  /// Always 0: iteration skips objects deleted meanwhile, and callers that reserve space by this number trap if fewer follow.
  public var underestimatedCount: Int { 0 }
  /// Whether there are no objects. Looks only for the first.
  public var isEmpty: Bool { state.firstKey == nil }
  /// The first object; nil if there is none. Looks only for that one.
  public var first: Element? { state.firstKey.map { state.store.live($0) } }
  /// The last object; nil if there is none. Evaluates the query.
  public var last: Element? {
    let keys = state.keys()
    return keys.count == 0 ? nil : state.store.live(keys[keys.count - 1])
  }

  /// The object at a position. Outside the bounds an object that is not in the store: an error by `MisusePolicy`, which does not
  /// end the process.
  public subscript(position: Int) -> Element {
    let keys = state.keys()
    guard position >= 0, position < keys.count else {
      state.store.misuse(.indexOutOfRange(position, count: keys.count))
      return state.store.live(0)
    }
    return state.store.live(keys[position])
  }

  /// The objects at these positions; ignores positions outside the bounds.
  public func objects(at positions: some Sequence<Int>) -> [Element] {
    let keys = state.keys()
    return positions.compactMap { $0 >= 0 && $0 < keys.count ? state.store.live(keys[$0]) : nil }
  }

  /// Whether an object is in the results; false for an object of another file, or of none.
  public func contains(_ object: Element) -> Bool {
    object.context?.store.shared === state.store.shared && state.contains(object._$key)
  }

  /// O(log count); O(count) for results of lists and inverses, and with `distinct`, limits, quantifiers and subqueries.
  public func firstIndex(of object: Element) -> Int? {
    guard object.context?.store.shared === state.store.shared else { return nil }
    let keys = state.keys()
    return state.place(of: object._$key, in: keys).map(\.row) ?? keys.index(of: object._$key)
  }

  public func index(of object: Element) -> Int? { firstIndex(of: object) }

  /// The objects as they are now, all in memory.
  public func toArray() -> [Element] { Array(self) }
}

extension Results: CustomStringConvertible {
  public var description: String { listed(as: "Results<\(Element._$name)>") }
}

extension RandomAccessCollection {
  /// The number of elements and the first ten, one per line.
  func listed(as name: String) -> String {
    let shown = prefix(10).map { "  \($0)" }.joined(separator: "\n")
    return "\(name) (\(count)) [\n\(shown)\(count > 10 ? "\n  …" : "")\n]"
  }
}

extension Results {
  @inlinable public func makeIterator() -> Iterator { Iterator(state) }

  /// Iterates over the result of one moment and creates one object after another.
  public struct Iterator: IteratorProtocol {
    @usableFromInline let owner: Store
    @usableFromInline let raw: UnsafeMutablePointer<RawContext>
    @usableFromInline let keys: KeySnapshot
    @usableFromInline let membershipTick: UInt64
    /// The remaining keys of the current run.
    @usableFromInline var key: Int64 = 0
    @usableFromInline var end: Int64 = 0
    @usableFromInline var position = 0
    /// Keys fetched ahead, if there are no runs.
    @usableFromInline var block: ArraySlice<Int64> = []

    @usableFromInline init(_ state: ResultsState) {
      owner = state.store
      raw = state.context.raw
      keys = state.keys()
      membershipTick = raw.pointee.membershipTick
    }

    @inlinable public mutating func next() -> Element? {
      while key < end || advance() {
        let next = key
        key &+= 1
        // No object was added or deleted since: every key is live.
        if raw.pointee.membershipTick == membershipTick || lives(next) {
          return Element(_$handle: ModelHandle(raw, next, owner))
        }
      }
      return nil
    }

    @usableFromInline mutating func advance() -> Bool {
      if position < keys.runs.count {
        key = keys.runs[position].lowerBound
        end = keys.runs[position].upperBound + 1
      } else if keys.runs.isEmpty, position < keys.count {
        if block.isEmpty { block = keys.block(from: position) }
        key = block.removeFirst()
        end = key + 1
      } else {
        return false
      }
      position += 1
      return true
    }

    @usableFromInline func lives(_ key: Int64) -> Bool { raw.pointee.context.lives(key) }
  }
}
