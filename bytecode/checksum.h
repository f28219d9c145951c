// CRC-32C (Castagnoli), as in iSCSI and ext4: finds every error burst up to 32
// bits. Eight bytes a step from constant tables, 1–2 GB/s on any processor.
//
//   uint32_t crc = Crc32c(bytes);
//   crc = Crc32c(more_bytes, crc);  // as if both were one run of bytes
#ifndef EBB_BYTECODE_CHECKSUM_H_
#define EBB_BYTECODE_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ebb::bytecode {

uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t crc = 0);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_CHECKSUM_H_
