//===- NumpyFile.cpp - reading and writing .npy files -------------------------------*- C++ -*-===//
//
// Part of the linattn project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format: the magic `\x93NUMPY`, two version bytes, the header's length (16 bits in version 1,
// 32 bits after), the header, the elements. The header is a Python dictionary literal:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/NumpyFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace mlir;
using namespace mlir::linattn;

static constexpr StringLiteral kMagic("\x93NUMPY");
/// More than any NumPy release writes or accepts.
static constexpr unsigned kMaxRank = 64;
/// All that NumPy writes between tokens; \v, for one, is no space to Python.
static constexpr StringLiteral kSpace(" \n");

/// Text from a file, made fit for a message.
static std::string quote(StringRef text) {
  std::string quoted = "'";
  llvm::raw_string_ostream os(quoted);
  llvm::printEscapedString(text.take_front(40), os);
  os << (text.size() > 40 ? "...'" : "'");
  return quoted;
}

namespace {
struct Header {
  std::optional<Element> element;
  std::optional<bool> fortranOrder;
  std::optional<SmallVector<int64_t>> shape;
};

/// A strict parser of the header's dictionary.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  llvm::Expected<Header> parse() {
    if (!consume('{'))
      return expected("'{'");
    while (!consume('}')) {
      if (llvm::Error error = parseEntry())
        return error;
      if (consume(','))
        continue;
      if (!consume('}'))
        return expected("',' or '}'");
      break;
    }
    if (!rest.trim(kSpace).empty())
      return expected("the end of the header");
    if (!header.element || !header.fortranOrder || !header.shape)
      return llvm::createStringError("the header lacks 'descr', 'fortran_order' or 'shape'");
    return std::move(header);
  }

private:
  llvm::Error parseEntry() {
    std::optional<StringRef> key = parseString();
    if (!key)
      return expected("a key in quotes");
    if (!consume(':'))
      return expected("':'");
    if (*key == "descr" && !header.element)
      return parseDescr();
    if (*key == "fortran_order" && !header.fortranOrder)
      return parseOrder();
    if (*key == "shape" && !header.shape)
      return parseShape();
    return llvm::createStringError("the header has an unknown or repeated key " + quote(*key));
  }

  llvm::Error parseDescr() {
    if (rest.ltrim(kSpace).starts_with("["))
      return llvm::createStringError("record types are not supported; save one field per file");
    std::optional<StringRef> descr = parseString();
    if (!descr)
      return expected("a type such as '<f4'");
    StringRef code = *descr;
    if (code.consume_front(">"))
      return llvm::createStringError("the data is big-endian (" + quote(*descr) +
                                     "); save it with x.astype('<" + quote(code).substr(1) + ")");
    bool hasOrder = code.consume_front("<") || code.consume_front("|") || code.consume_front("=");
    header.element = llvm::StringSwitch<std::optional<Element>>(hasOrder ? code : StringRef())
                         .Case("b1", Element::Bool)
                         .Case("i1", Element::I8)
                         .Case("i2", Element::I16)
                         .Case("i4", Element::I32)
                         .Case("i8", Element::I64)
                         .Case("u1", Element::U8)
                         .Case("u2", Element::U16)
                         .Case("u4", Element::U32)
                         .Case("u8", Element::U64)
                         .Case("V2", Element::BF16)
                         .Case("f2", Element::F16)
                         .Case("f4", Element::F32)
                         .Case("f8", Element::F64)
                         .Default(std::nullopt);
    if (!header.element)
      return llvm::createStringError(
          "type " + quote(*descr) +
          " is not supported; expected b1, i1 to i8, u1 to u8, f2, f4, f8 or V2 (bf16)");
    return llvm::Error::success();
  }

  llvm::Error parseOrder() {
    rest = rest.ltrim(kSpace);
    if (rest.consume_front("True"))
      header.fortranOrder = true;
    else if (rest.consume_front("False"))
      header.fortranOrder = false;
    else
      return expected("True or False");
    return llvm::Error::success();
  }

  llvm::Error parseShape() {
    SmallVector<int64_t> shape;
    if (!consume('('))
      return expected("'('");
    bool closed = consume(')');
    while (!closed) {
      rest = rest.ltrim(kSpace);
      StringRef digits = rest.take_while(llvm::isDigit);
      uint64_t dim;
      // Python refuses leading zeros.
      if (digits.getAsInteger(10, dim) || (digits.size() > 1 && digits.front() == '0') ||
          dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return expected("a size from 0 to 2^63-1");
      rest = rest.drop_front(digits.size());
      shape.push_back(dim);
      if (shape.size() > kMaxRank)
        return llvm::createStringError("the array has more than " + Twine(kMaxRank) + " dims");
      bool comma = consume(',');
      closed = consume(')');
      if (!comma && (!closed || shape.size() == 1)) // (3) is a number in Python, (3,) a tuple
        return expected("',' in the shape");
    }
    header.shape = std::move(shape);
    return llvm::Error::success();
  }

  /// A string without escapes, in either kind of quotes.
  std::optional<StringRef> parseString() {
    rest = rest.ltrim(kSpace);
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
      return std::nullopt;
    size_t end = rest.find(rest.front(), 1);
    if (end == StringRef::npos)
      return std::nullopt;
    StringRef text = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return text;
  }

  bool consume(char wanted) {
    rest = rest.ltrim(kSpace);
    return rest.consume_front(StringRef(&wanted, 1));
  }

  llvm::Error expected(StringRef what) {
    StringRef found = rest.ltrim(kSpace);
    return llvm::createStringError("the header is malformed: expected " + what + ", got " +
                                   (found.empty() ? "its end" : quote(found)));
  }

  StringRef rest;
  Header header;
};
} // namespace

/// Copies Fortran-ordered elements (first dim fastest) to row-major order.
static void transposeFromFortran(const char *source, HostArray &array) {
  ArrayRef<int64_t> shape = array.getShape();
  unsigned size = getElementSize(array.getElement());
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = size;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    strides[dim] = stride;
    stride *= extent;
  }
  SmallVector<int64_t> index(shape.size());
  int64_t offset = 0;
  for (int64_t i = 0; i < array.getNumElements(); ++i) {
    std::memcpy(array.data() + i * size, source + offset, size);
    // Step to the next element in row-major order.
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      offset += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      offset -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

static llvm::Expected<HostArray> parseNumpyFile(StringRef file) {
  StringRef rest = file;
  if (!rest.consume_front(kMagic))
    return llvm::createStringError("not a .npy file");
  if (rest.size() < 2)
    return llvm::createStringError("the file ends inside its header");
  unsigned major = rest[0], minor = rest[1];
  if (major < 1 || major > 3 || minor != 0)
    return llvm::createStringError("format version " + Twine(major & 255) + "." +
                                   Twine(minor & 255) + " is not supported; expected 1.0 to 3.0");
  rest = rest.drop_front(2);
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (rest.size() < lengthBytes)
    return llvm::createStringError("the file ends inside its header");
  size_t length = major == 1 ? llvm::support::endian::read16le(rest.data())
                             : llvm::support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthBytes);
  if (rest.size() < length)
    return llvm::createStringError("the header should have " + Twine(length) +
                                   " bytes, the file has " + Twine(rest.size()) + " more");
  llvm::Expected<Header> header = HeaderParser(rest.take_front(length)).parse();
  if (!header)
    return header.takeError();
  rest = rest.drop_front(length);

  std::optional<uint64_t> bytes = getNumBytes(*header->element, *header->shape);
  if (!bytes || *bytes != rest.size())
    return llvm::createStringError(
        "the header says " + getElementName(*header->element) + " " + formatShape(*header->shape) +
        ", which is " + (bytes ? llvm::utostr(*bytes) : "more than 2^62") +
        " bytes, but the file holds " + Twine(rest.size()) + " bytes of data");
  llvm::Expected<HostArray> array = HostArray::allocate(*header->element, *header->shape);
  if (!array)
    return array.takeError();
  if (*header->fortranOrder)
    transposeFromFortran(rest.data(), *array);
  else if (!rest.empty())
    std::memcpy(array->data(), rest.data(), rest.size());
  // Generated code relies on booleans being 0 or 1.
  if (array->getElement() == Element::Bool)
    for (int64_t i = 0; i < array->getNumElements(); ++i)
      array->data()[i] = array->data()[i] != 0;
  return array;
}

llvm::Expected<HostArray> linattn::readNumpyFile(StringRef path) {
  // A device or a pipe could go on for ever.
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return llvm::createStringError(path + ": " + error.message());
  if (!llvm::sys::fs::is_regular_file(status))
    return llvm::createStringError(path + ": not a regular file");
  // Volatile: read, not mapped, so that a file cut short meanwhile cannot raise SIGBUS.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!buffer)
    return llvm::createStringError(path + ": " + buffer.getError().message());
  llvm::Expected<HostArray> array = parseNumpyFile((*buffer)->getBuffer());
  if (!array)
    return llvm::createStringError(path + ": " + llvm::toString(array.takeError()));
  return array;
}

static StringRef getDescr(Element element) {
  static constexpr StringLiteral descrs[] = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2",
                                             "<u4", "<u8", "<V2", "<f2", "<f4", "<f8"};
  return descrs[static_cast<unsigned>(element)];
}

llvm::Error linattn::writeNumpyFile(StringRef path, const HostArray &array) {
  std::string header;
  llvm::raw_string_ostream os(header);
  os << "{'descr': '" << getDescr(array.getElement()) << "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : array.getShape())
    os << dim << ",";
  os << "), }";
  // The elements start at a multiple of 64 bytes.
  size_t prefix = kMagic.size() + 4;
  header.append(llvm::alignTo(prefix + header.size() + 1, 64) - prefix - header.size() - 1, ' ');
  header += '\n';

  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    char length[2];
    llvm::support::endian::write16le(length, header.size());
    file << kMagic << StringRef("\1\0", 2) << StringRef(length, 2) << header
         << StringRef(array.data(), array.getNumBytes());
    file.close();
    error = file.error();
    file.clear_error();
  }
  if (error)
    return llvm::createStringError("cannot write " + path + ": " + error.message());
  return llvm::Error::success();
}
