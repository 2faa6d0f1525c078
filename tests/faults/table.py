# SPDX-License-Identifier: Apache-2.0
"""The faults that a recorded program must not notice: how each is played, what is told of a loss, and the tests that play it.

    python3 tests/faults/table.py      prints the table (Markdown)

A test is named as <file>:<class>.<method>, from the root of the repository (Python), or <file>:<suite>.<name> (GoogleTest).
table_test.py checks that each exists, and that each test of faults_test.py is in the table.
"""

import collections

Fault = collections.namedtuple("Fault", "name played told tests")

FAULTS = "tests/faults/faults_test.py:"
PROFILER = "tests/end_to_end/profiler_test.py:OtherClient."
SPOOL = "tests/end_to_end/spool_test.py:Spool."
PROTON = "tests/end_to_end/proton_test.py:Proton."
DETACH = "tests/end_to_end/detach_test.py:Detaching."
STRESS = "tests/end_to_end/stress_test.py:HardPrograms."
SURROUNDINGS = "tests/end_to_end/stress_test.py:HardSurroundings."
LIFECYCLE = "tests/end_to_end/lifecycle_test.py:Lifecycle."
CANNOT_START = "tests/end_to_end/lifecycle_test.py:CannotStart."
OPTIONS = "tests/end_to_end/options_test.py:"

NOWHERE = "a file with the counters and the reason in $TMPDIR"

TABLE = [
    Fault("disk full", "writes fail with ENOSPC: five of them, all from a moment on, all; a real file system of 300 KB",
          f"writer.errors with the reason, dropped of each source; where nothing can be written any more: {NOWHERE}",
          [FAULTS + "Disk.test_disk_is_full_for_a_while", FAULTS + "Disk.test_disk_stays_full", FAULTS + "Disk.test_no_file_can_be_made",
           FAULTS + "Disk.test_small_file_system"]),
    Fault("disk that cannot sync", "fsync fails with EINVAL from the beginning, with EIO from the middle on",
          "nothing is lost", [FAULTS + "Disk.test_disk_cannot_sync"]),
    Fault("disk that syncs slowly", "fsync takes 0.4 s",
          "nothing is lost, and the end of the program does not wait for it", [FAULTS + "Disk.test_disk_syncs_slowly"]),
    Fault("quota", "writes fail with EDQUOT; RLIMIT_FSIZE", f"as for a full disk; {NOWHERE}",
          [FAULTS + "Disk.test_disk_is_full_for_a_while", FAULTS + "Disk.test_disk_stays_full", FAULTS + "Disk.test_no_file_can_be_made",
           SURROUNDINGS + "test_file_size_limit_of_the_process", SURROUNDINGS + "test_memory_while_the_file_cannot_be_written"]),
    Fault("read-only directory", "opening, making folders and linking fail with EROFS; writes do from the middle on",
          f"start.failed: {NOWHERE}",
          [FAULTS + "Disk.test_no_file_can_be_made", FAULTS + "Disk.test_disk_stays_full", CANNOT_START + "test_unwritable_folder"]),
    Fault("unwritable default path", "no TRACEINJECT_OUTPUT, and the working folder refuses files (EACCES); a folder has the name; the "
          "working folder was removed", f"start.failed: {NOWHERE}",
          [FAULTS + "Disk.test_no_file_can_be_made", FAULTS + "Disk.test_working_folder_vanished_before",
           CANNOT_START + "test_reason_is_left_in_the_temporary_folder"]),
    Fault("vanished directory", "the folder of the recording is removed in the middle; the file is",
          f"writer.errors with the reason, dropped of each source: {NOWHERE}",
          [FAULTS + "Disk.test_folder_vanishes", SURROUNDINGS + "test_file_is_taken_away",
           "injector/base/guarded_io_test.cc:ClosedDescriptorsTest.ARecordingThatWasRemovedIsNotMadeAnew"]),
    Fault("slow disk", "a write stalls (1 s; 30 s with TRACEINJECT_LONG=1), below little work and below more than the queues hold; all "
          "writes stall when the program ends",
          "writer.flush_max_us; buffers.exhausted, cupti.dropped and dropped of each source where the queues overflow",
          [FAULTS + "Disk.test_slow_disk", FAULTS + "Disk.test_slow_disk_below_more_than_the_queues_hold",
           FAULTS + "Disk.test_disk_that_stalls_at_the_end"]),
    Fault("existing file", "the name is taken by a finished recording, one of a killed process, one of a live process, a folder",
          "nothing is lost",
          [LIFECYCLE + "test_finished_file_is_moved_aside_too", LIFECYCLE + "test_name_left_over_from_a_killed_run_is_moved_aside",
           LIFECYCLE + "test_two_processes_with_one_name", CANNOT_START + "test_reason_is_left_in_the_temporary_folder"]),
    Fault("10,000-file limit", "10,000 older recordings of the name; the log beside the file cannot be made",
          f"nothing is lost; start.failed: {NOWHERE}",
          [FAULTS + "Disk.test_ten_thousand_older_files", FAULTS + "Disk.test_log_beside_the_file_cannot_be_made"]),
    Fault("memory limit", "RLIMIT_AS 16 to 500 MB above what the program needs alone; malloc finds nothing for the writer, from a call on "
          "or once, or for the sampler, or for us on the program's threads; no room for activity buffers",
          "a gap out_of_memory, start.failed, buffers.exhausted, rings.refused; with less than 64 MiB left only TRACEINJECT_LOG tells",
          [FAULTS + "Limits.test_address_space_without_room_for_a_file",
           FAULTS + "Limits.test_address_space_without_room_for_the_buffers", FAULTS + "Limits.test_address_space_with_room",
           SURROUNDINGS + "test_no_memory_for_the_writer",
           SURROUNDINGS + "test_no_memory_for_the_writer_once",
           SURROUNDINGS + "test_no_memory_on_threads_of_the_program", SURROUNDINGS + "test_no_memory_for_the_samples",
           "injector/cupti/buffer_pool_test.cc:BufferPoolTest.AllocatesABufferLaterThatThereWasNoMemoryFor"]),
    Fault("RLIMIT_NOFILE", "the program holds all descriptors, from before the first GPU work or from the middle on",
          "nothing is lost once the file is open; where none can be opened, nothing can be told",
          [FAULTS + "Limits.test_no_descriptor_for_the_file"]),
    Fault("SIGSTOP and SIGCONT", "three times 0.3 s", "nothing is lost", [FAULTS + "Processes.test_stopped_and_continued"]),
    Fault("fork without exec while threads hold our rings", "100 children while three threads record and one registers names; children "
          "that idle, exit and use CUDA", "nothing is lost",
          [STRESS + "test_forks_while_other_threads_record", LIFECYCLE + "test_forked_children_do_no_harm",
           LIFECYCLE + "test_child_forked_before_cuda_records_itself"]),
    Fault("vfork", "vfork and an exec that fails, in the middle", "nothing is lost", [STRESS + "test_vfork_child_that_cannot_run"]),
    Fault("execve from a training thread", "a second thread becomes another recorded program while a third works; the main thread does",
          "what was flushed is kept, the file has no end", [FAULTS + "Processes.test_thread_that_becomes_another_program",
                                                            STRESS + "test_program_that_becomes_another"]),
    Fault("dlclose of libraries", "libcupti, NVML and NCCL are closed by the program that loaded them first; users of cuBLAS come and go",
          "nothing is lost", [FAULTS + "Libraries.test_libraries_are_closed",
                              "tests/end_to_end/gemm_test.py:Products.test_libraries_that_are_closed_and_opened_again"]),
    Fault("thread churn", "10,000 short threads (100,000 with TRACEINJECT_LONG=1), each with a buffer and a queue; 3,000 whose buffers "
          "come back late",
          "nvtx.dropped, cupti.dropped",
          [FAULTS + "Processes.test_short_threads", STRESS + "test_more_threads_than_queues_one_after_the_other",
                                          OPTIONS + "Options.test_wrappers_cost_nothing_after_the_largest_size"]),
    Fault("seccomp that refuses unknown calls", "statx, renameat2 and others refused with ENOSYS and EPERM; all refused but "
          "what the program needs "
          "without us", "nothing is lost; where no file may be made, nothing can be told",
          [FAULTS + "Limits.test_seccomp_filter_of_a_container", FAULTS + "Limits.test_seccomp_filter_that_allows_no_file"]),
    Fault("a child that outlives the parent", "a forked child and a started program, beside a second recording of the name",
          "nothing is lost",
          [FAULTS + "Processes.test_child_that_outlives_the_program"]),
    Fault("64 processes at once on one machine", "with one name", "nothing is lost", [FAULTS + "Processes.test_many_processes_at_once"]),
    Fault("signals during flush", "SIGALRM and SIGPROF every millisecond, with handlers of the program; every third call on the file "
          "fails with EINTR",
          "nothing is lost", [FAULTS + "Processes.test_storm_of_signals", FAULTS + "Disk.test_calls_that_are_interrupted",
                              LIFECYCLE + "test_signals_are_left_alone"]),
    Fault("os.closerange over our descriptors", "in the middle, when files of the program take over the numbers; before the flush of the "
          "end",
          "writer.reopened", [LIFECYCLE + "test_program_that_closes_all_descriptors", LIFECYCLE + "test_descriptors_closed_at_the_end",
                              "injector/base/guarded_io_test.cc:ClosedDescriptorsTest.TheRecordingGoesOnAndTheProgramsFilesAreUntouched"]),
    Fault("keys for thread-specific data", "the program has all of them", "rings.refused",
          ["injector/base/ring_test.cc:RingSetDeathTest.AProgramThatHasAllKeysKeepsItsOwn"]),
    Fault("files that others planted", "links where the spool puts its note and its copy; a trigger file of another user", "nothing is lost",
          ["injector/store/spool_test.cc:SpoolTest.LinksThatSomebodyPlantedAreNotFollowed",
           "injector/recorder/trigger_file_test.cc:TriggerFileTest.OnlyTheUserOfTheRunAndRootGiveOrders"]),
    Fault("a look-up that hangs", "of the trigger file, on a network file system", "nothing is lost",
          ["tests/end_to_end/windows_test.py:Windows.test_file_system_that_does_not_tell_of_the_trigger",
           "tests/end_to_end/stall_test.py:Stall.test_where_the_file_system_of_the_trigger_does_not_answer_either"]),
    Fault("clock steps", "by an hour forwards, or a second backwards, in the middle; by an hour backwards while a flush hangs at the end",
          "clock_pair shows the step",
          [FAULTS + "Processes.test_clock_is_set", SURROUNDINGS + "test_clock_is_set_back_by_an_hour_while_a_flush_hangs"]),
    Fault("wrong or missing libcupti", "no libcupti; another library under its name; no library", "start.failed",
          [CANNOT_START + "test_no_cupti", FAULTS + "Libraries.test_wrong_cupti", OPTIONS + "Options.test_configured_cupti"]),
    Fault("CUPTI errors at every call", "each function that is used fails, from its first call on or later; all of them do; "
          "flushes never return",
          "start.failed, start.disabled_source, cupti.errors with the first, buffers.damaged",
          [FAULTS + "Cupti.test_nothing_can_be_started", FAULTS + "Cupti.test_calls_fail_while_it_records",
           FAULTS + "Cupti.test_everything_fails_from_the_middle", FAULTS + "Cupti.test_calls_without_which_recording_goes_on",
           FAULTS + "Cupti.test_one_kind_and_some_calls_are_refused", CANNOT_START + "test_cupti_refuses",
           CANNOT_START + "test_one_kind_refused",
           FAULTS + "Cupti.test_flush_that_never_returns_is_told", SURROUNDINGS + "test_flush_that_never_returns"]),
    Fault("NULL and truncated buffers", "buffers come back as null, or without their last 1 to 500 bytes; records cut off",
          "buffers.damaged", [FAULTS + "Cupti.test_null_buffers", FAULTS + "Cupti.test_truncated_buffers",
                              "injector/cupti/decoder_test.cc:DecoderTest.ARecordThatIsCutOffIsNotRead",
                              "injector/cupti/decoder_test.cc:DecoderTest.AWalkThatCuptiDoesNotContinueEnds"]),
    Fault("a client of CUPTI that finds its functions by dlsym", "it takes callbacks, buffers and kinds, frees the buffers, and leaves CUPTI "
          "finalized or as it is; between two flushes, too", "capture_gap with the reason other_client; other_client.stood_aside",
          [PROFILER + "test_client_that_no_wrapper_sees", PROFILER + "test_unseen_client_that_leaves_cupti_as_it_is",
           PROFILER + "test_unseen_client_where_threads_share_a_buffer", PROFILER + "test_unseen_client_that_is_done_before_it_is_noticed",
           PROFILER + "test_unseen_client_between_two_flushes"]),
    Fault("the place of a spooled recording", "it vanishes, is full or too slow at the end; the process is killed; no spool can be had",
          "the note beside the place, which analyze prints; the fact spool",
          [SPOOL + "test_place_that_vanishes", SPOOL + "test_place_that_is_full_or_too_slow", SPOOL + "test_killed_process_leaves_it_in_the_spool",
           SPOOL + "test_spool_that_cannot_be_had"]),
    Fault("a profiler with its own copy of CUPTI", "Triton's Proton: one session, several, none that ends; beside windows; without the Python side",
          "capture_gap with the reason proton",
          [PROTON + "test_own_copy", PROTON + "test_two_sessions_at_once", PROTON + "test_session_that_is_not_finished",
           PROTON + "test_window_that_opens_meanwhile", PROTON + "test_without_the_python_side_it_fails"]),
    Fault("CUPTI that is left between windows", "another client begins, records, or has begun meanwhile; cuptiFinalize fails",
          "cupti.detached, cupti.kept",
          [DETACH + "test_session_while_cupti_is_left", DETACH + "test_cupti_is_kept_from_the_first_session_on",
           DETACH + "test_client_that_no_wrapper_sees_while_cupti_is_left", DETACH + "test_cupti_that_cannot_be_finalized"]),
]


def markdown():
    lines = ["| fault | how it is played | what is told | tests |", "| --- | --- | --- | --- |"]
    for fault in TABLE:
        tests = "<br>".join(f"`{test.rpartition('/')[2]}`" for test in fault.tests)
        lines.append(f"| {fault.name} | {fault.played} | {fault.told} | {tests} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown())
