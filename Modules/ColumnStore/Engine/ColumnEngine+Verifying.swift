import StorageInterface
import StoreValues

extension ColumnEngine: StructureVerification {
  public func verifyStructure(_ read: any ReadTransaction, _ report: (StoreFault) -> Void) throws(StorageError) {
    guard let reading = read as? ColumnRead, reading.engine === self else {
      throw .misuse("The snapshot is of another engine.")
    }
    try reading.checkOpen()
    var faults = 0
    try store.verifyPages(reading.snapshot) { fault in
      faults += 1
      report(fault)
    }
    // The database follows its pages without looking where they lead: to go on could be the end of the process.
    if faults > 0 { throw .corrupt("its pages lead astray, so nothing in them was looked at") }
    try withoutActuallyEscaping(report) { report throws(StorageError) in
      try ColumnVerifier(reading, report).run()
    }
  }
}
