import Foundation
import StorageInterface
import StoreInspection
import StoreValues
import VivariumTestSupport

/// Reads, verifies, salvages and writes one damaged store.
struct Trial {
  private let files: SoundFiles
  private let truth: Truth

  init(_ files: SoundFiles, _ truth: Truth) { (self.files, self.truth) = (files, truth) }

  /// right, refused, older or wrong, and why. Where `verify` found nothing in what the first reading met: unseen, if that read something
  /// wrong without a word, and missed, if it was refused for damage.
  func run(_ damaged: [String: [UInt8]], _ number: Int, _ random: inout SeededGenerator) throws -> String {
    let name = "v\(number)"
    let path = try files.write(damaged, name)
    defer { files.remove(name) }
    var found = Findings(path)
    var isOverlooked = false
    found.trying { found throws(StorageError) in
      let engine = try files.backend(path).open(OpenOptions(isReadOnly: random.oneIn(4)))
      defer { engine.close() }
      found.compare(engine, truth, "read")
      let isLooked = random.oneIn(2)
      if isLooked || found.hasMetDamage, looksWhole(engine), found.hasMetDamage { isOverlooked = true }
    }
    if !found.isOlder { write(path, &found) }
    if files.isDeep, !found.isOlder { thinOut(path, &random, &found) }
    found.trying { found throws(StorageError) in
      let engine = try files.backend(path).open(OpenOptions())
      defer { engine.close() }
      var tour = StoreTour(most: 400_000)
      tour.read(engine)
      tour.write(engine, &random)
      found.expect(!tour.isEndless, "a tour without end")
    }
    if let wrong = found.wrong { return "\(isOverlooked ? "unseen" : "wrong") \(wrong)" }
    if found.isOlder { return "older" }
    guard let refusal = found.refusals.first else { return "right" }
    return isOverlooked ? "missed \(refusal.message)" : "refused \(refusal.code.rawValue)"
  }

  /// Whether `verify` finds nothing.
  private func looksWhole(_ engine: any StorageEngine) -> Bool {
    do throws(InspectionError) {
      try Inspector(engine, location: "damaged", format: .table, output: StringOutput()).verify()
      return true
    } catch { return false }
  }

  /// Deletes a run of side entries, for which pages are merged, and looks whether all others are as they were.
  private func thinOut(_ path: String, _ random: inout SeededGenerator, _ found: inout Findings) {
    let start = random.below(SoundFiles.deepCount)
    let run = start..<min(SoundFiles.deepCount, start + 20 + random.below(600))
    let keys = run.map { SoundFiles.deepKey($0) }
    var hasCommitted = false
    found.trying { found throws(StorageError) in
      let engine = try files.backend(path).open(OpenOptions())
      defer { engine.close() }
      let write = try engine.beginWrite(.after(.seconds(10)))
      defer { write.end() }
      for key in keys { try write.writePowers.sides?.setSide(key, nil) }
      _ = try write.commit(CommitRecord(), .full)
      hasCommitted = true
    }
    guard hasCommitted else { return }
    found.trying { found throws(StorageError) in
      let engine = try files.backend(path).open(OpenOptions())
      defer { engine.close() }
      let read = try engine.beginRead()
      defer { read.end() }
      let gone = Set(keys)
      let left = truth.sides.filter { $0.count < 203 || !gone.contains(Array($0[..<203])) }
      found.expect(try Truth.sides(read) == left, "thinned: side entries")
    }
  }

  /// Adds an object, and looks again whether everything else is as it was.
  private func write(_ path: String, _ found: inout Findings) {
    guard let table = truth.catalog["Note"] else { return }
    var added: Int64?
    found.trying { found throws(StorageError) in
      let engine = try files.backend(path).open(OpenOptions())
      defer { engine.close() }
      let write = try engine.beginWrite(.after(.seconds(10)))
      defer { write.end() }
      let row = RowBuffer(table)
      let key = try write.insert(row).rawValue
      _ = try write.commit(CommitRecord(), .full)
      added = key
    }
    guard let added else { return }
    found.trying { found throws(StorageError) in
      let engine = try files.backend(path).open(OpenOptions())
      defer { engine.close() }
      found.compare(engine, truth, added: [table.id: [added]], "written")
    }
  }
}
