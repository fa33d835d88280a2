"""lit configuration: which files are tests, and what the RUN lines may call."""

import os

import lit.formats

config.name = "LinAttn"
# lit's own shell: a pipeline fails when any of its stages fails.
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py", ".c"]
# Sources of test libraries, data, and what pytest runs.
config.excludes = ["CMakeLists.txt", "Inputs", "lib", "lit.cfg.py", "conftest.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.linattn_build_dir, "test")

linattn_tools_dir = os.path.join(config.linattn_build_dir, "bin")
# Ours first; then FileCheck, not, count, mlir-opt and mlir-runner of the LLVM that we were built with.
config.environment["PATH"] = os.pathsep.join(
    [linattn_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
config.environment["LINATTN_BUILD_DIR"] = config.linattn_build_dir
config.environment["PYTHONPATH"] = os.path.join(config.linattn_source_dir, "python")

# libMLIR is not instrumented, so containers that cross its border look overflown to ASan. What the
# environment adds comes last and wins (detect_leaks=0 where a container forbids ptrace, say).
if config.sanitize:
    config.environment["ASAN_OPTIONS"] = ":".join(
        ["detect_container_overflow=0", "detect_leaks=1", os.environ.get("ASAN_OPTIONS", "")]
    )
    config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
for name in ("OMP_NUM_THREADS", "LINATTN_FULL_TESTS", "LINATTN_CPU"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%python", config.python),
    ("%linattn_plugin", config.linattn_plugin),
    ("%linattn_src_root", config.linattn_source_dir),
    ("%clang", os.path.join(config.llvm_tools_dir, "clang")),
    ("%openmp", f"-L{config.llvm_tools_dir}/../lib -Wl,-rpath,{config.llvm_tools_dir}/../lib -lomp"),
    ("%examples", os.path.join(config.linattn_source_dir, "examples")),
]

config.available_features.add(config.target_arch)
# An instrumented plugin cannot be loaded into a mlir-opt that is not.
if os.path.exists(os.path.join(config.llvm_tools_dir, "mlir-opt")) and not config.sanitize:
    config.available_features.add("mlir-opt")
if config.sanitize:
    config.available_features.add("sanitizer")
# Grids that take minutes; `utils/dev test --full` asks for them.
if lit_config.params.get("full") or os.environ.get("LINATTN_FULL_TESTS"):
    config.available_features.add("full")
    config.environment["LINATTN_FULL_TESTS"] = "1"
