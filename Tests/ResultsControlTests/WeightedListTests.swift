import Testing
import VivariumTestSupport

@testable import ResultsControl

private struct Run: Weighted, Equatable {
  var weight: Int
}

@Suite struct WeightedListTests {
  /// The row's element and which of its rows it is, by walking.
  private func find(_ row: Int, _ runs: [Run]) -> [Int]? {
    var rest = row
    for (index, run) in runs.enumerated() {
      if rest < run.weight { return [index, rest] }
      rest -= run.weight
    }
    return nil
  }

  @Test func aListOfRunsIsWhatWalkingFindsWhateverIsDoneToIt() {
    var random = SeededGenerator.forTest()
    // Blocks are split and emptied on the way.
    var runs = (0..<random.below(3_000)).map { _ in Run(weight: random.below(4)) }
    var list = WeightedList(runs)
    for step in 0..<3_000 {
      let grows = step % 1_200 < 700
      let index = random.below(max(runs.count, 1))
      switch random.below(grows ? 4 : 3) {
      case 0 where !runs.isEmpty:
        runs[index].weight = random.below(5)
        list.update(at: index) { $0 = runs[index] }
      case 1 where !grows && !runs.isEmpty, 2 where !grows && !runs.isEmpty:
        runs.remove(at: index)
        list.remove(at: index)
      default:
        let run = Run(weight: random.below(4))
        let place = random.below(runs.count + 1)
        runs.insert(run, at: place)
        list.insert(run, at: place)
      }
      guard step % 50 == 0 else { continue }
      #expect(Array(list.elements) == runs && list.count == runs.count && list.weight == runs.reduce(0) { $0 + $1.weight })
      for _ in 0..<10 {
        let row = random.below(list.weight + 3) - 1
        #expect(list.find(row: row).map { [$0.index, $0.rest] } == (row < 0 ? nil : find(row, runs)))
        let index = random.below(runs.count + 1)
        #expect(list.weight(before: index) == runs[..<index].reduce(0) { $0 + $1.weight })
        if index < runs.count { #expect(list[index] == runs[index]) }
      }
    }
  }

  @Test func sumsFindTheNumberThatHoldsAPlace() {
    var random = SeededGenerator.forTest()
    for count in [0, 1, 2, 3, 7, 8, 9, 100] {
      var numbers = (0..<count).map { _ in random.below(3) }
      var sums = PrefixSums(numbers)
      for _ in 0..<50 {
        if count > 0 {
          let (index, amount) = (random.below(count), random.below(3))
          numbers[index] += amount
          sums.add(amount, at: index)
        }
        let total = numbers.reduce(0, +)
        let (place, before) = (random.below(total + 2), random.below(count + 1))
        #expect(sums.sum(before: before) == numbers[..<before].reduce(0, +))
        let found = sums.find(place)
        #expect(found.before == numbers[..<found.index].reduce(0, +))
        #expect(place >= total ? found.index == count : found.before <= place && place < found.before + numbers[found.index])
      }
    }
  }
}
