import StorageInterface
import StoreValues

/// What the edits of a list do; `source` is the line of the program, if it is known.
extension LiveList where Element: PersistableElement {
  func element(at position: Int) -> Element {
    switch place {
    case .memory(let box): return box.elements[position]
    case .store(let handle):
      let found: [Element] = position < 0 || position == .max ? [] : handle.elements(position..<position + 1)
      if let element = found.first { return element }
      handle.isMissing(position)
      return Element._$placeholder(handle.store)
    }
  }

  func setElement(_ element: Element, at position: Int, _ source: SourcePlace?) {
    switch place {
    case .memory(let box): box.edit { $0[position] = element }
    case .store(let handle): handle.set(element, at: position, source)
    }
  }

  /// nil: all elements.
  func replaceElements<C: Collection>(
    _ range: Range<Int>?, with elements: C, _ source: SourcePlace?
  ) where C.Element == Element {
    switch place {
    case .memory(let box): box.edit { $0.replaceSubrange(range ?? 0..<$0.count, with: elements) }
    case .store(let handle):
      let range = range ?? 0..<handle.count
      handle.edit(with: elements, over: range, at: source) { values in
        (range.isEmpty ? [] : [.remove(range)]) + (values.isEmpty ? [] : [.insert(at: range.lowerBound, values)])
      }
    }
  }

  /// nil: at the end.
  func insertElements<C: Collection>(
    _ elements: C, at position: Int?, _ source: SourcePlace?
  ) where C.Element == Element {
    switch place {
    case .memory(let box): box.edit { $0.insert(contentsOf: elements, at: position ?? $0.count) }
    case .store(let handle):
      handle.edit(with: elements, at: source) { [.insert(at: position ?? handle.count, $0)] }
    }
  }

  func removeElement(at position: Int, _ source: SourcePlace?) -> Element {
    let element = element(at: position)
    if case .store(let handle) = place, position < 0 || position == .max {
      // No range can express this position.
      handle.attempt(at: source) { _ throws(StoreError) in throw .indexOutOfRange(position, count: handle.count) }
    } else {
      removeElements(position..<position + 1, source)
    }
    return element
  }

  func removeElements(_ range: Range<Int>, _ source: SourcePlace?) {
    switch place {
    case .memory(let box): box.edit { $0.removeSubrange(range) }
    case .store(let handle): handle.edit(.remove(range), at: source)
    }
  }

  func removeEveryElement(keepingCapacity: Bool, _ source: SourcePlace?) {
    switch place {
    case .memory(let box): box.edit { $0.removeAll(keepingCapacity: keepingCapacity) }
    case .store(let handle): handle.edit(.clear, at: source)
    }
  }

  func moveElement(from origin: Int, to target: Int, _ source: SourcePlace?) {
    switch place {
    case .memory(let box): box.edit { $0.insert($0.remove(at: origin), at: target) }
    case .store(let handle): handle.edit(.move(from: origin, to: target), at: source)
    }
  }

  func swapElements(_ i: Int, _ j: Int, _ source: SourcePlace?) {
    if i == j { return }
    switch place {
    case .memory(let box): box.edit { $0.swapAt(i, j) }
    case .store(let handle):
      let (low, high) = (Swift.min(i, j), Swift.max(i, j))
      handle.edit(.move(from: high, to: low), .move(from: low &+ 1, to: high), at: source)
    }
  }
}
