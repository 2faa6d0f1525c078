# SPDX-License-Identifier: Apache-2.0
# With TRACEINJECT_FUZZ: parts that read what others wrote are compiled with AddressSanitizer and UndefinedBehaviorSanitizer,
# and tell which of their places are reached and what they compare, for libFuzzer. All others are compiled as usual: that
# is what a compiler's cache has, and their figures are held against what must hold of every report.
set(TRACEINJECT_INSTRUMENTED
    "^(analyzer/(commands/serve|common|import|http|compare/gate|ranks/summary)|injector/(cupti|nccl|nvtx|stacks)|viewer/(core/session|core/timeline|serve|ui))(/|$)"
    CACHE STRING "parts that fuzz targets watch; . for all")

# traceinject_instrument(TARGET FOLDER): the part in the folder, if it is among these.
function(traceinject_instrument target folder)
  if(NOT TRACEINJECT_FUZZ OR NOT folder MATCHES "${TRACEINJECT_INSTRUMENTED}")
    return()
  endif()
  # At -O3 it takes three times as long to compile. Of instrumented code g++ 12 warns without a reason.
  target_compile_options(${target} PRIVATE -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
                         -fsanitize-coverage=trace-pc,trace-cmp -fno-omit-frame-pointer -Wno-error)
endfunction()
