#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension URL {
  /// The path of a store's file. For a URL that is not of a file (`https://…`), the whole URL: no directory has such a name, so
  /// the error of opening the store names the URL, instead of a file being created elsewhere.
  package var storePath: String { isFileURL || scheme == nil ? path : absoluteString }
}
