import Foundation
import Vivarium

/// What two processes tell each other through the store.
@Model final class Note {
  @PrimaryKey var id: Int = 0
  /// The side that wrote it.
  var writer: String = ""
  /// When it was written, in nanoseconds of the machine's monotonic clock, which all processes share.
  var writtenNanoseconds: Int = 0
}
