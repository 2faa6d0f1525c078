# SPDX-License-Identifier: Apache-2.0
# Finds the directories that hold cupti.h, cuda.h, nccl.h and nvtx3/: a toolkit's folder or pip wheels
# (nvidia/**/include). Sets TRACEINJECT_CUDA_INCLUDE (a list, empty when something is missing).
set(_toolkits $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda /usr/lib/cuda /opt/cuda)
file(GLOB _versioned /usr/local/cuda-*)
file(GLOB_RECURSE _wheel_headers LIST_DIRECTORIES false
     $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/nvidia/*cupti.h
     $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/nvidia/*cuda.h
     $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/nvidia/*nvToolsExtPayload.h)
find_program(_python NAMES python3)
if(_python AND NOT _wheel_headers)
  execute_process(COMMAND ${_python} -c
                          "import site,sys\nprint(';'.join(site.getsitepackages()+[site.getusersitepackages()]))"
                  OUTPUT_VARIABLE _site OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  foreach(_dir IN LISTS _site)
    file(GLOB_RECURSE _found LIST_DIRECTORIES false ${_dir}/nvidia/*cupti.h ${_dir}/nvidia/*cuda.h
         ${_dir}/nvidia/*nvToolsExtPayload.h)
    list(APPEND _wheel_headers ${_found})
  endforeach()
endif()
set(_hints)
foreach(_header IN LISTS _wheel_headers)
  get_filename_component(_dir ${_header} DIRECTORY)
  string(REGEX REPLACE "/nvtx3$" "" _dir ${_dir})
  list(APPEND _hints ${_dir})
endforeach()
foreach(_toolkit IN LISTS _toolkits _versioned)
  list(APPEND _hints ${_toolkit}/include ${_toolkit}/extras/CUPTI/include)
endforeach()
list(REMOVE_DUPLICATES _hints)

find_path(TRACEINJECT_CUPTI_INCLUDE cupti.h HINTS ${_hints})
find_path(TRACEINJECT_CUDA_H_INCLUDE cuda.h HINTS ${_hints})
find_path(TRACEINJECT_NVTX_INCLUDE nvtx3/nvToolsExtPayload.h HINTS ${_hints})
set(TRACEINJECT_CUDA_INCLUDE)
if(TRACEINJECT_CUPTI_INCLUDE AND TRACEINJECT_CUDA_H_INCLUDE AND TRACEINJECT_NVTX_INCLUDE)
  set(TRACEINJECT_CUDA_INCLUDE ${TRACEINJECT_CUPTI_INCLUDE} ${TRACEINJECT_CUDA_H_INCLUDE} ${TRACEINJECT_NVTX_INCLUDE})
  list(REMOVE_DUPLICATES TRACEINJECT_CUDA_INCLUDE)
else()
  message(STATUS "Left out: libtraceinject.so and its tests, because the CUDA headers (cupti.h, cuda.h, nvtx3/) were "
                 "not found; install the CUDA toolkit, set CUDA_HOME to it, or "
                 "`pip install nvidia-cuda-cupti nvidia-cuda-runtime nvidia-nvtx`.")
endif()
