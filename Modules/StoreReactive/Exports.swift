// Apple's Combine if the system has it, otherwise OpenCombine. Importing this module also imports the operators.
#if canImport(Combine)
@_exported import Combine
#else
@_exported import OpenCombine
#endif
