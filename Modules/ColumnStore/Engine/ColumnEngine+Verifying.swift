import StorageInterface
import StoreValues

extension ColumnEngine: StructureVerification {
  public func verifyStructure(_ read: any ReadTransaction, _ report: (StoreFault) -> Void) throws(StorageError) {
    guard let reading = read as? ColumnRead, reading.engine === self else {
      throw .misuse("The snapshot is of another engine.")
    }
    try reading.checkOpen()
    try store.upkeep?.verifyPages(reading.snapshot, report)
    // Verification must read the file, not what was decoded from it before.
    reading.isImageRead = false
    withoutActuallyEscaping(report) { report in ColumnVerifier(reading, report).run() }
  }
}
