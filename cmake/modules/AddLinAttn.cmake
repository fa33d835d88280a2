# Build rules that every folder shares: one warning level, one sanitizer switch, one copy of MLIR.
include_guard()

# Flags that our code needs, on a target that only exists to carry them.
add_library(LinAttnCompileOptions INTERFACE)
target_include_directories(LinAttnCompileOptions SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS}
                           ${LLVM_INCLUDE_DIRS})
target_include_directories(LinAttnCompileOptions INTERFACE
                           $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                           $<INSTALL_INTERFACE:include>)
separate_arguments(LINATTN_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(LinAttnCompileOptions INTERFACE ${LINATTN_LLVM_DEFINITIONS}
                       -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
# libMLIR was built with NDEBUG, and some of its classes (pass statistics) have another layout without:
# every build of ours defines it, too.
target_compile_definitions(LinAttnCompileOptions INTERFACE NDEBUG
                           LLVM_DISABLE_ABI_BREAKING_CHECKS_ENFORCING) # see "ABI" in docs/Rationale.md
if(LINATTN_SANITIZE)
  target_compile_options(LinAttnCompileOptions INTERFACE -fsanitize=address,undefined
                         -fno-sanitize=vptr,function -fno-sanitize-recover=undefined
                         -fno-omit-frame-pointer)
  target_link_options(LinAttnCompileOptions INTERFACE -fsanitize=address,undefined
                      -fno-sanitize=vptr,function)
endif()

# add_linattn_library(LinAttnFoo a.cpp b.cpp [DEPENDS tablegen-targets] [LINK_LIBS libraries])
# A static library over libMLIR.so. LINK_LIBS is the list of our layers that it may use;
# utils/check-layering.py holds it against the layering rule.
function(add_linattn_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} LinAttnCompileOptions MLIR LLVM)
  add_dependencies(${name} LinAttnTableGen ${ARG_DEPENDS})
endfunction()

# add_linattn_tool(la-foo la-foo.cpp [LINK_LIBS libraries])
function(add_linattn_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} LinAttnCompileOptions MLIR LLVM)
  add_dependencies(${name} LinAttnTableGen)
endfunction()

