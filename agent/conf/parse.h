/* SPDX-License-Identifier: GPL-2.0 */
/* The grammar of the configuration file; config.h is what others call. */
#ifndef GAGG_CONF_PARSE_H
#define GAGG_CONF_PARSE_H

#include "config.h"

/* As config_parse(), but @out->path is left empty and -ENOMEM leaves @err. */
int parse_config(const char *text, const char *path, struct config *out,
		 char *err, size_t errlen);

#endif
