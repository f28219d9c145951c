#!/usr/bin/env python3
"""Checks who may include whom.

usage: include_direction_test.py REPOSITORY

The folders' order is part of the design: bytecode and allocator know nothing of
the rest, the VM knows nothing of the compiler, and each outside library is
confined to the one place that needs it. The check reads the #include lines of
every source file. Exit status: 0 all hold, 1 some do not (each is printed).
"""

import os
import re
import sys

# Folder -> folders of ours that it may include from, itself aside.
# The longest matching folder is the file's own.
ALLOWED = {
    "bytecode": [],
    "allocator": [],
    "vm/kernels": ["bytecode"],
    "vm": ["vm/kernels", "bytecode", "allocator"],
    "compiler": ["vm/kernels", "bytecode", "allocator"],
    "tools": ["compiler", "vm", "vm/kernels", "bytecode", "allocator"],
    "bench": ["tools", "compiler", "vm", "vm/kernels", "bytecode", "allocator"],
    "tests": ["tools", "bench", "compiler", "vm", "vm/kernels", "bytecode",
              "allocator"],
}

# Single includes beyond those: (including file, included file).
EXCEPTIONS = [
    # The compiler's public interface hands out the runtime's programs and
    # errors, so its header and its one source file see the runtime's side.
    (r"compiler/ebb_compiler\.(h|hpp)", r"vm/ebb\.(h|hpp)"),
    (r"compiler/ebb_compiler_api\.cc", r"vm/ebb(_internal)?\.h"),
]

# Outside library -> (what its includes look like, files that may use it).
CONFINED = {
    "protozero": (r"protozero/", r"compiler/onnx/|tests/compiler/onnx/"),
    "oneDNN": (r"(oneapi/)?dnnl", r"vm/kernels/onednn/"),
    "spdlog": (r"spdlog/|fmt/", r"tools/"),
    "Boost.Program_options": (r"boost/program_options", r"tools/"),
    "Boost.JSON": (r"boost/json", r"tools/|bench/|tests/"),
    "libpng": (r"png\.h|libpng", r"tools/"),
    "jemalloc": (r"jemalloc/", r"allocator/jemalloc_[^/]*$|bench/"),
    "Google Benchmark": (r"benchmark/", r"bench/"),
    "GoogleTest": (r"gtest/|gmock/", r"tests/"),
}

# Headers for embedders need nothing but each other and the standard library.
PUBLIC_HEADER = r"(vm/ebb|compiler/ebb_compiler)\.(h|hpp)$"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """The longest folder of ALLOWED that holds the path, or None."""
    matches = [f for f in ALLOWED if path.startswith(f + "/")]
    return max(matches, key=len) if matches else None


def source_files(root):
    for top in sorted({f.split("/")[0] for f in ALLOWED}):
        for folder, subfolders, files in os.walk(os.path.join(root, top)):
            subfolders.sort()
            for file in sorted(files):
                if file.endswith((".h", ".hpp", ".c", ".cc", ".def", ".inc")):
                    yield os.path.relpath(os.path.join(folder, file), root)


def resolve(root, file, quote, target):
    """The included file relative to the repository, or None when outside."""
    beside = os.path.normpath(os.path.join(os.path.dirname(file), target))
    if quote == '"' and os.path.exists(os.path.join(root, beside)):
        return beside
    if folder_of(target) and os.path.exists(os.path.join(root, target)):
        return target
    return None


def is_exception(file, target):
    return any(re.fullmatch(f, file) and re.fullmatch(t, target)
               for f, t in EXCEPTIONS)


def complaint(root, file, quote, target):
    """Why this include is not allowed, or None."""
    own = resolve(root, file, quote, target)
    if own is not None:
        here, there = folder_of(file), folder_of(own)
        if there not in (here, *ALLOWED[here]) and not is_exception(file, own):
            return f"{here} may not include from {there}: {own}"
        if re.match(PUBLIC_HEADER, file) and not re.match(PUBLIC_HEADER, own):
            return f"a public header may not include {own}"
        return None
    for library, (pattern, places) in CONFINED.items():
        if re.match(pattern, target) and not re.match(places, file):
            return f"{library} may not be used here: {target}"
    if re.match(PUBLIC_HEADER, file) and ("boost/" in target or quote == '"'):
        return f"a public header may not include {target}"
    return None


def main():
    if len(sys.argv) != 2:
        print("usage: include_direction_test.py REPOSITORY", file=sys.stderr)
        return 2
    root = sys.argv[1]
    file_count = 0
    bad_count = 0
    for file in source_files(root):
        file_count += 1
        with open(os.path.join(root, file), encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                why = complaint(root, file, match[1], match[2])
                if why:
                    bad_count += 1
                    print(f"{file}:{number}: {why}")
    print(f"{file_count} files read, {bad_count} includes not allowed")
    return 1 if bad_count or not file_count else 0


if __name__ == "__main__":
    sys.exit(main())
