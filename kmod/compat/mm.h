/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_MM_H
#define GAGG_COMPAT_MM_H

#include <linux/mm.h>

#ifndef GAGG_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#endif
