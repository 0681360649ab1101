// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration file, as a file.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "parse.h"

#define TEXT_MAX	(4U << 20)	/* 64 members take about 5 KiB */

int config_parse(const char *text, const char *path, struct config *out,
		 char *err, size_t errlen)
{
	int ret;

	if (errlen)
		*err = 0;
	ret = parse_config(text, path, out, err, errlen);
	if (ret == -ENOMEM)
		snprintf(err, errlen, "%s: out of memory", path);
	if (!ret)
		snprintf(out->path, sizeof(out->path), "%s", path);
	return ret;
}

static int config_read_text(FILE *f, char **out)
{
	char *text = malloc(TEXT_MAX + 1);
	size_t len;
	int ret = 0;

	if (!text)
		return -ENOMEM;
	errno = 0;
	len = fread(text, 1, TEXT_MAX + 1, f);
	if (ferror(f))
		ret = errno ? -errno : -EIO;
	else if (len > TEXT_MAX)
		ret = -EFBIG;
	else if (memchr(text, 0, len))
		ret = -EILSEQ;
	if (ret) {
		free(text);
		return ret;
	}
	text[len] = 0;
	*out = text;
	return 0;
}

int config_load(const char *path, struct config *out, char *err, size_t errlen)
{
	char *real, *text;
	FILE *f;
	int ret;

	f = fopen(path, "re");
	if (!f) {
		ret = -errno;
		snprintf(err, errlen, "%s: %s", path, strerror(-ret));
		return ret;
	}
	ret = config_read_text(f, &text);
	fclose(f);
	if (ret) {
		snprintf(err, errlen, "%s: %s", path,
			 ret == -EILSEQ ? "holds a zero byte: not a text file" :
					  strerror(-ret));
		return ret;
	}
	ret = config_parse(text, path, out, err, errlen);
	free(text);
	if (ret)
		return ret;
	real = realpath(path, NULL);
	if (real)
		snprintf(out->path, sizeof(out->path), "%s", real);
	free(real);
	return 0;
}

void config_free(struct config *cfg)
{
	free(cfg->groups);
	memset(cfg, 0, sizeof(*cfg));
}
