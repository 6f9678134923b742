import StorageInterface
import StoreValues

extension SealedSnapshot {
  /// Verifies that each entry was written with the key, under its name, and that the directory of side entries lists those that are there.
  package func verify(_ report: (StoreFault) -> Void) throws(StorageError) {
    var (sideValues, sideBlocks) = (0, 0)
    try [UInt8]([1]).lend { start throws(StorageError) in
      try base.visit(from: start, sharing: 0, reverse: false) { name, sealed in
        if name.starts(with: SideDirectory.valuePrefix) { sideValues += 1 }
        if name.starts(with: SideDirectory.blockPrefix) { sideBlocks += 1 }
        do throws(StorageError) { _ = try entries.cipher.open(sealed, name) } catch {
          report(StoreFault(entryPlace(of: name), "is not what was written with the key"))
        }
        return .proceed
      }
    }
    do throws(StorageError) { try verifySides(values: sideValues, blocks: sideBlocks, report) } catch {
      report(StoreFault("side entries", error.message))
    }
  }

  private func verifySides(values: Int, blocks: Int, _ report: (StoreFault) -> Void) throws(StorageError) {
    let fences = try sideFences()
    if fences.count != blocks {
      report(StoreFault("side entries", "have \(blocks) blocks in their directory, and it counts \(fences.count)"))
    }
    var count = 0
    var last: [UInt8]?
    for (i, fence) in fences.fences.enumerated() {
      let next = i + 1 < fences.count ? fences.fences[i + 1] : nil
      for key in try sideKeys(fence) {
        let isInside = !key.lexicographicallyPrecedes(fence) && (next.map { key.lexicographicallyPrecedes($0) } ?? true)
        if !isInside || last.map({ $0.lexicographicallyPrecedes(key) }) == false {
          report(StoreFault("side entries", "are out of order in block \(i) of their directory"))
        }
        if try opened(SideDirectory.valuePrefix + entries.cipher.side(key)) == nil {
          report(StoreFault("side entries", "have lost one that block \(i) of their directory lists"))
        }
        last = key
        count += 1
      }
    }
    if count != values { report(StoreFault("side entries", "are \(values), and their directory lists \(count)")) }
  }
}
