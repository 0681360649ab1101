/* SPDX-License-Identifier: GPL-2.0 */
/* All that the core may know of the outside: see scripts/check-purity. */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

typedef __UINT8_TYPE__ __u8;
typedef __UINT16_TYPE__ __u16;
typedef __UINT32_TYPE__ __u32;
typedef unsigned long long __u64;
typedef __INT8_TYPE__ __s8;
typedef __INT16_TYPE__ __s16;
typedef __INT32_TYPE__ __s32;
typedef long long __s64;
typedef __u16 __le16;
typedef __u32 __le32;
typedef __u64 __le64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
#define __aligned_u64 __u64 __attribute__((aligned(8)))

#endif
