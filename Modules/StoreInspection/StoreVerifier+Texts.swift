import QueryModel
import StorageInterface
import StoreValues

extension StoreVerifier {
  /// Verifies that an index of words contains each different word of each text, and nothing else. Holds them all in memory. Does
  /// nothing if the engine keeps no such index.
  func verifyTexts(_ index: TextIndexEntry, _ table: TableEntry) {
    guard let texts = read.powers.texts, index.rules == TextWords.rules, let name = table[index.property]?.schema.name else { return }
    report.indexCount += 1
    let place = "index of the words of \(table.name).\(name)"
    trying(place) { () throws(StorageError) in
      var expected: [[UInt8]: [Int64]] = [:]
      var entries = 0
      for key in keys(of: table.id) {
        let text = try read.value(table.column(index.property), ObjectKey(key))
        let words = text.withBytes { bytes in bytes.map { TextWords.all(in: $0) } ?? [] }
        entries += words.count
        for word in words { expected[word, default: []].append(key) }
      }
      let count = try texts.count(of: [], isPrefix: true, in: index.id)
      if count != entries { fault(place, "has \(count) entries, and the texts have \(entries) different words") }
      for (word, objects) in expected {
        var found: [Int64] = []
        try texts.keys(of: word, isPrefix: false, in: index.id) { keys in
          found += keys
          return .proceed
        }
        if found != objects { fault(place, "has other objects for '\(String(decoding: word, as: UTF8.self))' than there are") }
      }
    }
  }
}
