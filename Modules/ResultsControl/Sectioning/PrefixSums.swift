/// Prefix sums of changing numbers: finds the sum before a position, and the number that a position falls into, each in O(log n).
struct PrefixSums {
  /// A Fenwick tree: node n holds the sum of the last `n & -n` numbers up to the n-th, counted from 1.
  private var nodes: [Int]

  /// O(n). The numbers must not be negative.
  init(_ numbers: some Collection<Int>) {
    nodes = [0] + numbers
    for node in nodes.indices.dropFirst() {
      let parent = node + (node & -node)
      if parent < nodes.count { nodes[parent] += nodes[node] }
    }
  }

  /// The numbers themselves. O(n).
  var numbers: [Int] {
    var numbers = nodes
    for node in nodes.indices.dropFirst().reversed() {
      let parent = node + (node & -node)
      if parent < numbers.count { numbers[parent] -= numbers[node] }
    }
    return Array(numbers.dropFirst())
  }

  mutating func add(_ amount: Int, at index: Int) {
    var node = index + 1
    while node < nodes.count {
      nodes[node] += amount
      node += node & -node
    }
  }

  func sum(before index: Int) -> Int {
    var (node, sum) = (index, 0)
    while node > 0 {
      sum += nodes[node]
      node -= node & -node
    }
    return sum
  }

  /// The number that contains `place` when all numbers are laid end to end, and the sum of those before it. Past the end: the count
  /// of the numbers, and their sum.
  func find(_ place: Int) -> (index: Int, before: Int) {
    var (node, before) = (0, 0)
    var step = 1
    while step * 2 < nodes.count { step *= 2 }
    while step > 0 {
      let next = node + step
      if next < nodes.count, before + nodes[next] <= place {
        node = next
        before += nodes[next]
      }
      step /= 2
    }
    return (node, before)
  }
}
