import StoreValues

extension HistoryReading {
  /// The version before the oldest kept record; all records after it exist. Makes O(log versions) look-ups.
  package func versionBeforeHistory() throws(StorageError) -> Version {
    var (low, high) = (UInt64(0), version.rawValue)
    while low < high {
      let middle = low + (high - low) / 2
      if try keepsHistory(after: Version(middle)) { high = middle } else { low = middle + 1 }
    }
    return Version(low)
  }

  private func keepsHistory(after version: Version) throws(StorageError) -> Bool {
    do throws(StorageError) {
      try history(after: version) { _ in .stop }
      return true
    } catch {
      if error.code == .historyTrimmed { return false }
      throw error
    }
  }
}
