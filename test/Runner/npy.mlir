// What --check-npy says of good and bad files.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/Inputs/npy_files.py
// RUN: la-run --check-npy f4.npy fortran.npy v2.npy v3.npy bf16.npy bool.npy scalar.npy empty.npy | FileCheck %s --check-prefix=GOOD --match-full-lines
//      GOOD: f4.npy: f32 [2,3] min 0, max 5; non-finite: 0
// GOOD-NEXT: fortran.npy: f32 [2,2] values 0 1 2 3; non-finite: 0
// GOOD-NEXT: v2.npy: f64 [2] values 1 2; non-finite: 0
// GOOD-NEXT: v3.npy: i16 [2] values 1 -2; non-finite: 0
// GOOD-NEXT: bf16.npy: bf16 [1] values 1.5; non-finite: 0
// GOOD-NEXT: bool.npy: bool [2] values 1 0; non-finite: 0
// GOOD-NEXT: scalar.npy: u64 [] values 18446744073709551615; non-finite: 0
// GOOD-NEXT: empty.npy: f32 [0,3] values; non-finite: 0

// RUN: not la-run --check-npy nothing magic ends short version length cut long big complex record negative huge many order twice missing zeros word tail | FileCheck %s --check-prefix=BAD --match-full-lines
//      BAD: error: nothing: not a .npy file
// BAD-NEXT: error: magic: not a .npy file
// BAD-NEXT: error: ends: the file ends inside its header
// BAD-NEXT: error: short: the file ends inside its header
// BAD-NEXT: error: version: format version 4.0 is not supported; expected 1.0 to 3.0
// BAD-NEXT: error: length: the header should have 65535 bytes, the file has {{[0-9]+}} more
// BAD-NEXT: error: cut: the header says f32 [2,3], which is 24 bytes, but the file holds 23 bytes of data
// BAD-NEXT: error: long: the header says f32 [2,3], which is 24 bytes, but the file holds 25 bytes of data
// BAD-NEXT: error: big: the data is big-endian ('>f4'); save it with x.astype('<f4')
// BAD-NEXT: error: complex: type '<c8' is not supported; expected b1, i1 to i8, u1 to u8, f2, f4, f8 or V2 (bf16)
// BAD-NEXT: error: record: record types are not supported; save one field per file
// BAD-NEXT: error: negative: the header is malformed: expected a size from 0 to 2^63-1, got '-1,), }'
// BAD-NEXT: error: huge: the header says f32 [4611686018427387904,4], which is more than 2^62 bytes, but the file holds 24 bytes of data
// BAD-NEXT: error: many: the array has more than 64 dims
// BAD-NEXT: error: order: the header is malformed: expected True or False, got 'true, 'shape': (2, 3), }'
// BAD-NEXT: error: twice: the header has an unknown or repeated key 'shape'
// BAD-NEXT: error: missing: the header lacks 'descr', 'fortran_order' or 'shape'
// BAD-NEXT: error: zeros: the header is malformed: expected a size from 0 to 2^63-1, got '02, 3), }'
// BAD-NEXT: error: word: the header is malformed: expected ':', got ''\07\1B[31m'}'
// BAD-NEXT: error: tail: the header is malformed: expected the end of the header, got 'x'

// Damaged files do not crash it; utils/fuzz-npy.py tries as many as one likes.
// RUN: %python %linattn_src_root/utils/fuzz-npy.py --count 3000 --seed 1 --la-run la-run | FileCheck %s --check-prefix=FUZZ
// FUZZ: 3000 files, {{[1-9][0-9]*}} read, {{[1-9][0-9]*}} refused, none crashed
