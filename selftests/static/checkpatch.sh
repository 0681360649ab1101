#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# checkpatch.pl --strict, with the exceptions below, over the C sources of the
# module, of uapi/ and of userspace.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# Extended regular expressions; what matches is no finding. A finding reads
# "FILE:LINE: LEVEL:TYPE: MESSAGE | the line".
exceptions=$(sed '/^#/d' <<'END'
# kernel types and macros are not for userspace, nor for headers it reads
^(agent|uapi)/.*:(PREFER_KERNEL_TYPES|BIT_MACRO):
^agent/.*:ARCH_DEFINES:
^agent/.*:VOLATILE: .* sig_atomic_t
# nor for the core, which compiles without the kernel's headers (check-purity)
^(agent|kmod/core)/.*:(PREFER_DEFINED_ATTRIBUTE_MACRO|ARRAY_SIZE):
^kmod/core/types\.h:.*:NEW_TYPEDEFS:
# READ_ONCE() is not for it either
^kmod/core/wire\.c:.*:VOLATILE: .*\| .*volatile struct word
# a number that is a power of two, not a bit
:BIT_MACRO: .*\| #define [A-Z_]*_MAX
# words of C11, of its extensions, of inttypes.h and of zlib
:CAMELCASE: .*<(_Float16|_Alignas|_Atomic|_Bool|_Noreturn|_Static_assert|_Thread_local|gzFile|(PRI|SCN)[dioux][0-9A-Z]+)>
:SPACING: .*\| .*_Alignas\(
# an exponent of ten
:SPACING: .*'-'.* \| .*[0-9]e-[0-9]
# both sides are constants
:CONSTANT_COMPARISON: .*\| *_Static_assert\(
# "possible side effects": loops over, and accessors of, what is a variable
:MACRO_ARG_REUSE:
# a parameter that is the name of a member
^kmod/core/chan\.h:.*:MACRO_ARG_PRECEDENCE: Macro argument 'off'
# the end of a chain of which another branch goes on
:UNNECESSARY_ELSE:
# what a message says can be searched for, and may have the word "set"
:LONG_LINE_STRING:
^agent/.*:EMBEDDED_FUNCTION_NAME:
# the shape that TRACE_EVENT() has in the kernel
^kmod/trace\.h:.*:(OPEN_ENDED_LINE|PARENTHESIS_ALIGNMENT):
# nested intrinsics leave no room to the right of a parenthesis; a macro of
# attributes cannot have parentheses
^agent/lib/quant_avx2\.c:.*:(OPEN_ENDED_LINE|PARENTHESIS_ALIGNMENT):
^agent/lib/quant_avx2\.c:.*:COMPLEX_MACRO: .*\| #define STEP
# tables whose rows are designated initializers, made by macros
^agent/nl/names\.c:.*:PARENTHESIS_ALIGNMENT: .*\|[[:space:]]*\[GAGG_
^agent/nl/names\.c:.*:BRACKET_SPACE: .*\| *#define STAT
^agent/nl/names\.c:.*:(MACRO_ARG_PRECEDENCE|MACRO_WITH_FLOW_CONTROL): .*\| *#define WORDS
END
)

# The scripts are not among the kernel's headers. Unpacking them from the
# kernel's source takes some seconds, once.
cache=$PWD/build/static/checkpatch
archive=/usr/src/linux-source-6.1.tar.xz
wanted=(checkpatch.pl spelling.txt const_structs.checkpatch)
mkdir -p "$cache"
exec {lock}<"$cache"
flock "$lock"
if [ ! "$cache/checkpatch.pl" -nt "$archive" ]; then
	[ -r "$archive" ] || bail "no $archive: make deps"
	tar -xJf "$archive" -C "$work" --strip-components=2 --occurrence=1 \
		"${wanted[@]/#/linux-source-6.1/scripts/}" || bail "cannot unpack $archive"
	# this is how the word is spelt where "licence" is
	sed -i '/^acknowledgement||/d' "$work/spelling.txt"
	touch "${wanted[@]/#/$work/}"
	mv "$work/spelling.txt" "$work/const_structs.checkpatch" "$cache/"
	mv "$work/checkpatch.pl" "$cache/"
fi

# findings FILE...: lines as above. checkpatch runs where there is neither git nor
# a kernel's include/, both of which it would search.
mkdir -p "$work/root/include"
ln -s "$PWD"/{kmod,uapi,agent} "$cache" "$work/root/"
findings()
{
	printf '%s\0' "$@" | (
		cd "$work/root" || exit 1
		export GIT_DIR=none
		# shellcheck disable=SC2016 # sh expands it
		xargs -0 -n 8 -P "$(nproc)" sh -c '
			exec >"$(mktemp ../findings.XXXXXX)" 2>&1
			perl checkpatch/checkpatch.pl --no-tree --root=. --strict \
				--file --terse --show-types --no-summary "$@" ||
			[ $? -eq 1 ] || echo "checkpatch.pl has failed"' sh
	)
	cat "$work"/findings.* | awk -v root="$work/root/" '
	match($0, /^[^:]*:[0-9]+: /) {
		split($0, at, ":")
		if (file != at[1]) {
			if (file)
				close(root file)
			file = at[1]
			number = 0
		}
		while (number < at[2] && (getline text < (root file)) > 0)
			number++
		$0 = $0 " | " text
	}
	{ print }' | grep -vE -e "$exceptions"
	rm -f "$work"/findings.*
}

# A file that was found clean is not looked at again until it, or what looks at
# it, changes. Not after a word in CamelCase, which is reported once for several
# files.
key=$(cat "$0" "$cache/checkpatch.pl" | sha256sum | cut -c 1-16)
known=$cache/clean
touch "$known"
mapfile -t files < <(find kmod uapi agent -type f -name '*.[ch]' | sort)
(sha256sum "${files[@]}" | sed "s/^/$key /") >"$work/sums"
mapfile -t new < <(grep -vxFf "$known" "$work/sums" | sed 's/^[^ ]* [^ ]*  //')

plan $((${#files[@]} + 4))
found=
[ ${#new[@]} -eq 0 ] || found=$(findings "${new[@]}")
for file in "${files[@]}"; do
	of_file=$(grep -e "^$file:" <<<"$found")
	clean "$file" "$of_file"
	[ -n "$of_file" ] || grep -e "  $file\$" "$work/sums"
done >"$work/results"
grep -vE -e "^$key " "$work/results"
clean "nothing else is said" "$(grep -vE '^(kmod|uapi|agent)/[^:]*:[0-9]+:' <<<"$found")"
grep -q ':CAMELCASE:' <<<"$found" || grep -E -e "^$key " "$work/results" >"$known"

mkdir "$work/root/planted"
cat >"$work/root/planted/planted.c" <<'END'
// SPDX-License-Identifier: GPL-2.0
int f(int a) {
	if (a == 1) {
		return (1<<a);
	}
	return  sizeof a; 
}
END
printf '// %s\n' 'SPDX-License-Identifier: GPL-2.0' 'teh end' >"$work/root/planted/words.c"
found=$(findings planted/planted.c planted/words.c)
caught "a brace in the wrong place" ':OPEN_BRACE:' "$found"
caught "a space at the end of a line" ':TRAILING_WHITESPACE:' "$found"
caught "a misspelt word" ':TYPO_SPELLING:' "$found"
