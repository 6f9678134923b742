/// Sums of the first so many of some numbers that change: what comes before a place, and which number a place falls into,
/// each in O(log n).
struct PrefixSums {
  /// A Fenwick tree: node n holds the sum of the last `n & -n` numbers up to the n-th, counted from 1.
  private var nodes: [Int]

  /// O(n). Numbers are not negative.
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

  /// The number that holds a place when all are laid end to end, and the sum of those before it. Past the end: how many
  /// numbers there are, and their sum.
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
