#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension URL {
  /// The path of a store's file. Where the URL is of something else than a file (`https://…`), all of it: no folder is called so, and the
  /// error of opening the store names what was given, instead of a file elsewhere being made.
  package var storePath: String { isFileURL || scheme == nil ? path : absoluteString }
}
