/// @file
/// Reads and writes network files: the text format of README.md, and that of SUMO. Plain C++, without dynasoar.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>

#include <dynasoar/program/options.h>

#include "network.h"

namespace traffic {

/// A file that is not a network. The message gives the file, the line and the column.
class NetworkError : public dynasoar::program::UsageError {
 public:
  using UsageError::UsageError;
};

/// Reads the text format that README.md defines.
///
/// @param name   of the file, for messages
/// @throws NetworkError if it is not a network; UsageError if it is not text
Network read_network(std::istream& in, const std::string& name);

/// Writes the text format. read_network() then gives an equal network.
void write_network(std::ostream& out, const Network& network);

/// Reads a network of SUMO (.net.xml): a street for each lane that cars may use. There are no producers and
/// destinations in it.
///
/// @param text    the whole file
/// @param name    of the file, for messages
/// @param green   steps for which each incoming edge of a traffic light is green; 0: no lights
/// @throws NetworkError if it is not a network; UsageError if it is not text
Network read_sumo_network(const std::string& text, const std::string& name, std::uint32_t green);

}  // namespace traffic
