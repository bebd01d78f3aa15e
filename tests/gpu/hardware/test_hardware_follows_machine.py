"""What the TTIR machine makes of a program, a GPU makes of it."""

import pytest

from tests.gpu import (
    test_ttir_atomics,
    test_ttir_calls,
    test_ttir_control,
    test_ttir_core,
    test_ttir_descriptors,
    test_ttir_matmul,
    test_ttir_pointers,
    test_ttir_reduction,
    ttir_target,
)
from tests.gpu.hardware.hardware_follow import evaluated

MODULES = (test_ttir_calls, test_ttir_control, test_ttir_core, test_ttir_matmul, test_ttir_reduction)
"""These evaluate functions, too."""


@pytest.fixture(autouse=True)
def _on_a_gpu_instead(monkeypatch: pytest.MonkeyPatch, device) -> None:
    monkeypatch.setattr(ttir_target, "outcome", lambda kernel, grid, args, arch: device.outcome(kernel, grid, args))
    for module in MODULES:
        monkeypatch.setattr(module, "evaluated", lambda text, *values, arch="": evaluated(device, text, values)[1])


# Atomics
test_compare_and_swap_compares_bits = test_ttir_atomics.test_compare_and_swap_compares_bits

# Calls, generated tiles, rows
test_views_and_tokens_go_into_functions = (
    test_ttir_calls.test_views_and_tokens_go_into_functions_and_come_back_from_any_return
)
test_a_generated_tile_has_what_the_body_yields = (
    test_ttir_calls.test_a_generated_tile_has_what_the_body_yields_for_each_index
)
test_rows_are_gathered_and_scattered = test_ttir_calls.test_rows_are_gathered_and_scattered_as_in_the_interpreter
test_the_optimization_barrier_is_the_identity = test_ttir_calls.test_the_optimization_barrier_is_the_identity

# Control flow
test_nothing_happens_after_an_early_return = test_ttir_control.test_nothing_happens_after_an_early_return
test_a_loop_that_never_goes_round_is_none = test_ttir_control.test_a_loop_that_never_goes_round_is_none
test_a_step_that_is_not_positive_gives_no_iteration = (
    test_ttir_control.test_a_step_that_is_not_positive_gives_no_iteration
)
test_a_counted_loop_has_the_values_of_the_program = test_ttir_control.test_a_counted_loop_has_the_values_of_the_program

# Shapes
test_elements_of_every_type_are_moved = test_ttir_core.test_elements_of_every_type_are_moved

# The copy engine
test_products_through_views_are_those_of_the_interpreter = (
    test_ttir_descriptors.test_products_are_those_of_the_interpreter
)
test_a_tile_of_a_stack_turned_around = test_ttir_descriptors.test_a_tile_of_a_stack_turned_around

# Products
test_matrices_of_any_size_are_multiplied = test_ttir_matmul.test_matrices_of_any_size_are_multiplied
test_what_fills_up_a_matrix_adds_nothing = test_ttir_matmul.test_what_fills_up_a_matrix_adds_nothing
test_bytes_are_multiplied_in_batches = test_ttir_matmul.test_bytes_are_multiplied_as_their_signedness_says_in_batches
test_blocks_are_scaled = test_ttir_matmul.test_blocks_are_scaled_by_the_hardware_or_without
test_scales_reach_as_far_as_their_type = test_ttir_matmul.test_scales_reach_as_far_as_their_type

# Pointers
test_elements_go_where_they_should = test_ttir_pointers.test_elements_go_where_they_should_as_strongly_as_asked
test_tf32_is_read_without_its_low_bits = test_ttir_pointers.test_tf32_is_read_without_its_low_bits
test_any_byte_other_than_0_is_true = test_ttir_pointers.test_any_byte_other_than_0_is_true_and_is_stored_as_1
test_every_block_has_memory_of_its_own = test_ttir_pointers.test_every_block_has_memory_of_its_own_as_aligned_as_asked

# Reductions and scans
test_elements_are_combined_along_every_dimension = test_ttir_reduction.test_elements_are_combined_along_every_dimension
test_sums_of_small_numbers_are_exact_in_any_order = (
    test_ttir_reduction.test_sums_of_small_numbers_are_exact_in_any_order
)
test_several_operands_are_combined_in_lock_step = test_ttir_reduction.test_several_operands_are_combined_in_lock_step
test_elements_of_one_byte_travel_along = test_ttir_reduction.test_elements_of_one_byte_travel_along
test_any_body_is_run = test_ttir_reduction.test_any_body_is_run
test_a_tile_of_one_element_is_its_own_result = (
    test_ttir_reduction.test_a_tile_of_one_element_along_the_dimension_is_its_own_result
)
test_a_vector_is_reduced_to_a_scalar = test_ttir_reduction.test_a_vector_is_reduced_to_a_scalar
