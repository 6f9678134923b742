/// An element of a `WeightedList`: it stands for so many rows.
protocol Weighted {
  var weight: Int { get }
}

/// A list whose elements stand for rows, with both counts kept: which element holds a row, and how many rows come
/// before an element, without walking the list.
///
/// Two levels: blocks of up to `capacity` elements. Finding, inserting and removing cost O(n / capacity + capacity), in
/// practice a microsecond or two for a million elements.
struct WeightedList<Element: Weighted> {
  private static var capacity: Int { 512 }

  private struct Block {
    var elements: [Element]
    var weight: Int
  }

  private var blocks: [Block] = []
  private(set) var count = 0
  /// The rows of all elements.
  private(set) var weight = 0

  init() {}

  init(_ elements: some Sequence<Element>) {
    var block = Block(elements: [], weight: 0)
    for element in elements {
      block.elements.append(element)
      block.weight += element.weight
      if block.elements.count == WeightedList.capacity / 2 { seal(&block) }
    }
    if !block.elements.isEmpty { seal(&block) }
  }

  private mutating func seal(_ block: inout Block) {
    blocks.append(block)
    count += block.elements.count
    weight += block.weight
    block = Block(elements: [], weight: 0)
  }
}

// MARK: - Finding

extension WeightedList {
  /// The block that holds an index and the place in it; the end of the last block for `count`.
  private func place(of index: Int) -> (block: Int, offset: Int, weightBefore: Int) {
    var rest = index
    var weight = 0
    for (i, block) in blocks.enumerated() {
      if rest < block.elements.count { return (i, rest, weight) }
      rest -= block.elements.count
      weight += block.weight
    }
    guard let last = blocks.last else { return (0, 0, 0) }
    return (blocks.count - 1, last.elements.count, weight - last.weight)
  }

  subscript(index: Int) -> Element {
    let place = place(of: index)
    return blocks[place.block].elements[place.offset]
  }

  /// How many rows the elements before `index` stand for.
  func weight(before index: Int) -> Int {
    let place = place(of: index)
    guard place.block < blocks.count else { return 0 }
    return blocks[place.block].elements[..<place.offset].reduce(place.weightBefore) { $0 + $1.weight }
  }

  /// The element that holds a row, and which of its rows that is; nil when there are not so many rows.
  func find(row: Int) -> (index: Int, rest: Int)? {
    guard row >= 0, row < weight else { return nil }
    var (rest, index) = (row, 0)
    for block in blocks {
      if rest >= block.weight {
        rest -= block.weight
        index += block.elements.count
        continue
      }
      for element in block.elements {
        if rest < element.weight { return (index, rest) }
        rest -= element.weight
        index += 1
      }
    }
    return nil
  }

  /// Every element, in order.
  var elements: some Sequence<Element> { blocks.lazy.flatMap(\.elements) }
}

// MARK: - Changing

extension WeightedList {
  /// Changes an element in place.
  mutating func update(at index: Int, _ change: (inout Element) -> Void) {
    let place = place(of: index)
    let before = blocks[place.block].elements[place.offset].weight
    change(&blocks[place.block].elements[place.offset])
    let difference = blocks[place.block].elements[place.offset].weight - before
    blocks[place.block].weight += difference
    weight += difference
  }

  mutating func insert(_ element: Element, at index: Int) {
    count += 1
    weight += element.weight
    if blocks.isEmpty {
      blocks = [Block(elements: [element], weight: element.weight)]
      return
    }
    let place = place(of: index)
    blocks[place.block].elements.insert(element, at: place.offset)
    blocks[place.block].weight += element.weight
    guard blocks[place.block].elements.count > WeightedList.capacity else { return }
    let tail = Array(blocks[place.block].elements[(WeightedList.capacity / 2)...])
    let tailWeight = tail.reduce(0) { $0 + $1.weight }
    blocks[place.block].elements.removeLast(tail.count)
    blocks[place.block].weight -= tailWeight
    blocks.insert(Block(elements: tail, weight: tailWeight), at: place.block + 1)
  }

  mutating func remove(at index: Int) {
    let place = place(of: index)
    let removed = blocks[place.block].elements.remove(at: place.offset)
    blocks[place.block].weight -= removed.weight
    count -= 1
    weight -= removed.weight
    if blocks[place.block].elements.isEmpty { blocks.remove(at: place.block) }
  }
}
