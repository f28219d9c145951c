// How the portable kernels ask the compiler for wide vectors. The sources are
// plain loops and vector extensions; a function marked EBB_TARGET_CLONES is
// compiled for three levels of x86-64 and the loader picks one (measured: no
// slower than building the whole library for the machine at hand). Helpers
// called from it must be EBB_ALWAYS_INLINE, or they stay at the baseline.
//
// Clones need ifuncs, which run before a sanitizer is set up, and which only
// g++ offers on templates: elsewhere the macro is empty.
#ifndef EBB_VM_KERNELS_PORTABLE_TARGET_H_
#define EBB_VM_KERNELS_PORTABLE_TARGET_H_

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&              \
    !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__)
#define EBB_TARGET_CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define EBB_TARGET_CLONES
#endif

#define EBB_ALWAYS_INLINE inline __attribute__((always_inline))

// Before a loop whose element i reads only element i of what it writes: the
// output may be one of the inputs, which is no reason against vectors.
#if defined(__clang__)
#define EBB_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define EBB_INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif  // EBB_VM_KERNELS_PORTABLE_TARGET_H_
