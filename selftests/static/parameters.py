#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Prints "FILE NAME N" for each function that FILEs define: N is the number of its parameters.

A definition in a macro's body is one, too. How C is read:
1. Comments go. A string or a character becomes 0. A continued line is one line.
2. Of the preprocessor's lines only #define counts, and its body is read on its own. After #else
   braces are as deep as after #if: the compiler reads one of both.
3. Outside of braces, what stands before an opening one is a definition if it has no "=" outside
   of parentheses, and has a word that parentheses follow: its name, and the parameters.
4. The name is the last such word that is no attribute. A macro that is called before it, without
   a semicolon, is not it; after it there are only attributes, and, of a function that returns a
   pointer to one, the parameters of that.
"""

import re
import sys

NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
LINE = re.compile(r'^[ \t]*#[ \t]*(\w*)(.*)$', re.M)
MACRO = re.compile(r'[ \t]*\w+(?:\([^)]*\))?(.*)', re.S)
TOKEN = re.compile(r'\w+|\S')
NO_NAMES = {"if", "for", "while", "switch", "sizeof", "typeof", "return", "do"}


def plain(text):
    """without comments, strings and continuations"""
    text = text.replace("\\\n", " ")
    return NOISE.sub(lambda m: " " if m[0].startswith("/") else " 0 ", text)


def is_attribute(word):
    """__printf, __must_hold"""
    return word.startswith("__")


def groups(tokens):
    """(name, parameters, end, depth) of each pair of parentheses that follows a word"""
    found, opened = [], []
    for i, token in enumerate(tokens):
        if token == "(":
            opened.append([tokens[i - 1] if i else "", i, 0])
        elif token == ")" and opened:
            name, start, commas = opened.pop()
            inside = tokens[start + 1:i]
            # one of a parameter's is none: "(*" is around a name
            outside = all(tokens[o[1] + 1] == "*" for o in opened)
            if re.match(r"[A-Za-z_]", name) and name not in NO_NAMES and outside and \
                    inside[:1] != ["*"] and not is_attribute(name):
                none = inside in ([], ["void"])
                found.append((name, 0 if none else commas + 1, i, len(opened)))
        elif token == "," and opened:
            opened[-1][2] += 1
    return found


def outside_words(tokens, depth):
    """words of @tokens that are in no parentheses, where the first token is @depth deep"""
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if not depth and re.match(r"[A-Za-z_]", token):
            yield token


def definition(tokens):
    """(name, parameters) of what is defined by @tokens, which a brace follows; or None"""
    parens = 0
    for token in tokens:
        parens += (token == "(") - (token == ")")
        if token == "=" and not parens:
            return None
    found = groups(tokens)
    if not found:
        return None
    name, parameters, end, depth = found[-1]
    if all(is_attribute(word) for word in outside_words(tokens[end + 1:], depth)):
        return name, parameters
    return None


def definitions(text):
    """(name, parameters) of each definition in plain text, directives included as lines"""
    depth, parens, head, branches = 0, 0, [], []
    directives = LINE.findall(text)
    tokens = TOKEN.findall(LINE.sub(" # ", text))
    for token in tokens:
        if token == "#":
            directive, rest = directives.pop(0)
            if directive == "define":
                yield from definitions(MACRO.match(rest)[1].replace("#", ""))
            elif directive.startswith("if"):
                branches.append(depth)
            elif directive in ("else", "elif"):
                depth = branches[-1]
            elif directive == "endif":
                branches.pop()
            continue
        if token == "{":
            found = None if depth or parens else definition(head)
            if found:
                yield found
            depth += 1
        elif token == "}":
            depth -= 1
        if depth or token == "}" or (token == ";" and not parens):
            head, parens = [], 0
            continue
        parens += (token == "(") - (token == ")")
        head.append(token)


for file in sys.argv[1:]:
    with open(file, encoding="utf-8") as source:
        for name, parameters in definitions(plain(source.read())):
            print(file, name, parameters)
