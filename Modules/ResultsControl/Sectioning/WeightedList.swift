/// An element of a `WeightedList`, which represents `weight` rows.
protocol Weighted {
  var weight: Int { get }
}

/// A list whose elements represent rows. Finds the element of a row, and the number of rows before an element, without walking the
/// list.
///
/// Consists of blocks of up to `capacity` elements, and prefix sums over the blocks. Finding or changing an element costs O(log n +
/// capacity). Once every capacity / 2 insertions or removals the sums are recomputed, O(n / capacity).
struct WeightedList<Element: Weighted> {
  private static var capacity: Int { 512 }

  private var blocks: [[Element]] = []
  private var counts = PrefixSums([Int]())
  private var weights = PrefixSums([Int]())
  private(set) var count = 0
  /// The number of rows of all elements.
  private(set) var weight = 0

  init() {}

  init(_ elements: some Sequence<Element>) {
    var block: [Element] = []
    for element in elements {
      block.append(element)
      count += 1
      weight += element.weight
      if block.count == WeightedList.capacity / 2 {
        blocks.append(block)
        block = []
      }
    }
    if !block.isEmpty { blocks.append(block) }
    sum(blocks.map { block in block.reduce(0) { $0 + $1.weight } })
  }

  /// Recomputes the sums after a change of the blocks, from the number of rows of each block.
  private mutating func sum(_ rows: [Int]) {
    counts = PrefixSums(blocks.map(\.count))
    weights = PrefixSums(rows)
  }
}

// MARK: - Finding

extension WeightedList {
  /// The block that contains an index, and the offset in it; for `count`, the end of the last block.
  private func place(of index: Int) -> (block: Int, offset: Int) {
    let (block, before) = counts.find(index)
    if block < blocks.count { return (block, index - before) }
    return blocks.isEmpty ? (0, 0) : (blocks.count - 1, blocks[blocks.count - 1].count)
  }

  subscript(index: Int) -> Element {
    let place = place(of: index)
    return blocks[place.block][place.offset]
  }

  /// The number of rows before the element at `index`.
  func weight(before index: Int) -> Int {
    let place = place(of: index)
    guard place.block < blocks.count else { return 0 }
    return blocks[place.block][..<place.offset].reduce(weights.sum(before: place.block)) { $0 + $1.weight }
  }

  /// The element that contains a row, and the row's offset in it; nil if there is no such row.
  func find(row: Int) -> (index: Int, rest: Int)? {
    guard row >= 0, row < weight else { return nil }
    let (block, before) = weights.find(row)
    var (rest, index) = (row - before, counts.sum(before: block))
    for element in blocks[block] {
      if rest < element.weight { return (index, rest) }
      rest -= element.weight
      index += 1
    }
    return nil
  }

  /// Every element, in order.
  var elements: some Sequence<Element> { blocks.joined() }
}

// MARK: - Changing

extension WeightedList {
  /// Changes an element in place.
  mutating func update(at index: Int, _ change: (inout Element) -> Void) {
    let place = place(of: index)
    let before = blocks[place.block][place.offset].weight
    change(&blocks[place.block][place.offset])
    add(weight: blocks[place.block][place.offset].weight - before, in: place.block)
  }

  private mutating func add(weight difference: Int, in block: Int) {
    weight += difference
    if difference != 0 { weights.add(difference, at: block) }
  }

  mutating func insert(_ element: Element, at index: Int) {
    count += 1
    if blocks.isEmpty {
      weight = element.weight
      blocks = [[element]]
      return sum([weight])
    }
    let place = place(of: index)
    blocks[place.block].insert(element, at: place.offset)
    counts.add(1, at: place.block)
    add(weight: element.weight, in: place.block)
    guard blocks[place.block].count > WeightedList.capacity else { return }
    let tail = Array(blocks[place.block][(WeightedList.capacity / 2)...])
    blocks[place.block].removeLast(tail.count)
    blocks.insert(tail, at: place.block + 1)
    var rows = weights.numbers
    let moved = tail.reduce(0) { $0 + $1.weight }
    rows[place.block] -= moved
    rows.insert(moved, at: place.block + 1)
    sum(rows)
  }

  mutating func remove(at index: Int) {
    let place = place(of: index)
    let removed = blocks[place.block].remove(at: place.offset)
    count -= 1
    counts.add(-1, at: place.block)
    add(weight: -removed.weight, in: place.block)
    guard blocks[place.block].isEmpty else { return }
    blocks.remove(at: place.block)
    var rows = weights.numbers
    rows.remove(at: place.block)
    sum(rows)
  }
}
