#include <dynasoar/columns.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include <dynasoar/base/number_text.h>
#include <dynasoar/detail/escaped_text.h>
#include <dynasoar/platform/durable_file.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {
namespace {

/// Collects the text and the data of a VTK file.
class VtpFile {
 public:
  static_assert(std::endian::native == std::endian::little, "dynasoar: VTK files are written as little-endian");

  void text(const std::string& text) { text_ += text; }

  /// Adds an array.
  void array(const char* type, const std::string& name, std::size_t components, std::vector<std::byte> data) {
    text_ += std::string("<DataArray type=\"") + type + "\" Name=\"" + detail::xml_text(name) +
             "\" NumberOfComponents=\"" + std::to_string(components) + "\" format=\"appended\" offset=\"" +
             std::to_string(offset_) + "\"/>\n";
    offset_ += sizeof(std::uint64_t) + data.size();
    arrays_.push_back(std::move(data));
  }
  template <class T>
  void array(const char* type, const std::string& name, std::size_t components, const std::vector<T>& values) {
    std::vector<std::byte> data(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(data.data(), values.data(), data.size());
    array(type, name, components, std::move(data));
  }

  void write(const std::string& path) const {
    detail::DurableFile file(path);
    const std::string before = text_ + "<AppendedData encoding=\"raw\">\n_";
    file.write(before.data(), before.size());
    for (const std::vector<std::byte>& array : arrays_) {
      const std::uint64_t bytes = array.size();
      file.write(&bytes, sizeof bytes);
      file.write(array.data(), array.size());
    }
    const std::string after = "\n</AppendedData>\n</VTKFile>\n";
    file.write(after.data(), after.size());
    file.commit();
  }

  static const char* type_of(ColumnType type) {
    constexpr std::array kNames = {"Int8",   "Int16",  "Int32",  "Int64",   "UInt8",
                                   "UInt16", "UInt32", "UInt64", "Float32", "Float64"};
    return kNames[static_cast<std::size_t>(type)];
  }

 private:
  std::string text_ =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n";
  std::vector<std::vector<std::byte>> arrays_;
  std::uint64_t offset_ = 0;
};

std::vector<double> coordinates_of(const Columns& table, const std::string& name) {
  if (name.empty()) return std::vector<double>(table.rows);
  const Column* const column = table.find(name);
  if (column == nullptr || column->components != 1) {
    throw Error("dynasoar: write_vtp takes coordinates from the column '" + name + "', but " + table.name +
                " has no such column of one number: name others in VtpOptions; there are " + table.names());
  }
  return column->as<double>();
}

/// Labels as an array of texts, each ended by a zero.
std::string labels_text(const Column& column) {
  std::string text = "<Array type=\"String\" Name=\"" + detail::xml_text(column.name) + " names\" NumberOfTuples=\"" +
                     std::to_string(column.labels.size()) + "\" format=\"ascii\">";
  for (const std::string& label : column.labels) {
    for (const char c : label) text += std::to_string(static_cast<unsigned char>(c)) + ' ';
    text += "0 ";
  }
  return text + "</Array>\n";
}

}  // namespace

void write_vtp(const std::string& path, const Columns& table, const VtpOptions& options) {
  std::vector<double> points(3 * table.rows);
  std::size_t axis = 0;
  for (const std::string& name : {options.x, options.y, options.z}) {
    const std::vector<double> values = coordinates_of(table, name);
    for (std::size_t row = 0; row < table.rows; ++row) points[3 * row + axis] = values[row];
    ++axis;
  }
  std::vector<std::int64_t> connectivity(table.rows);
  std::iota(connectivity.begin(), connectivity.end(), std::int64_t{0});
  std::vector<std::int64_t> offsets(table.rows);
  std::iota(offsets.begin(), offsets.end(), std::int64_t{1});

  const std::string rows = std::to_string(table.rows);
  VtpFile file;
  file.text("<PolyData>\n<FieldData>\n");
  file.text("<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">" +
            detail::number_text(options.time) + "</DataArray>\n");
  for (const Column& column : table.columns) {
    if (!column.labels.empty()) file.text(labels_text(column));
  }
  file.text("</FieldData>\n<Piece NumberOfPoints=\"" + rows + "\" NumberOfVerts=\"" + rows +
            "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<PointData>\n");
  for (const Column& column : table.columns) {
    file.array(VtpFile::type_of(column.type), column.name, column.components, column.data);
  }
  file.text("</PointData>\n<Points>\n");
  file.array("Float64", "Points", 3, points);
  file.text("</Points>\n<Verts>\n");
  file.array("Int64", "connectivity", 1, connectivity);
  file.array("Int64", "offsets", 1, offsets);
  file.text("</Verts>\n</Piece>\n</PolyData>\n");
  file.write(path);
}

void write_pvtp(const std::string& path, const std::vector<std::string>& parts, const Columns& table) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PPolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<PPolyData GhostLevel=\"0\">\n<PPointData>\n";
  const auto add = [&text](const char* type, const std::string& name, std::size_t components) {
    text.append("<PDataArray type=\"").append(type).append("\" Name=\"").append(detail::xml_text(name));
    text.append("\" NumberOfComponents=\"").append(std::to_string(components)).append("\"/>\n");
  };
  for (const Column& column : table.columns) add(VtpFile::type_of(column.type), column.name, column.components);
  text += "</PPointData>\n<PPoints>\n";
  add("Float64", "Points", 3);
  text += "</PPoints>\n";
  for (const std::string& part : parts) text.append("<Piece Source=\"").append(detail::xml_text(part)).append("\"/>\n");
  text += "</PPolyData>\n</VTKFile>\n";
  detail::DurableFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace dynasoar
