"""Small launches that the tests of the tools look at."""

from __future__ import annotations

import numpy as np

import tileir

RACE = """\
cuda_tile.module @m {
  entry @total(%x: tile<ptr<f32>>, %total: tile<ptr<f32>>) {
    %id, %idy, %idz = get_tile_block_id : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %begin = muli %id, %four : tile<i32>
    %from = offset %x, %begin : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %none = constant <f32: 0.0> : tile<f32>
    %sum = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<f32>) {
      %at = offset %from, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %value, %read = load_ptr_tko weak %at : tile<ptr<f32>> -> tile<f32>, token
      %next = addf %acc, %value : tile<f32>
      continue %next : tile<f32>
    }
    %before, %t0 = load_ptr_tko weak %total : tile<ptr<f32>> -> tile<f32>, token
    %after = addf %before, %sum : tile<f32>
    %t1 = store_ptr_tko weak %total, %after token=%t0 : tile<ptr<f32>>, tile<f32> -> token
  }
}
"""
"""Each tile block adds four elements to one total that all share, without an atomic operation."""


def race() -> tuple[tileir.Kernel, tuple[object, ...]]:
    """The racy kernel, and its arrays for a grid of 4."""
    return tileir.parse(RACE, "race.mlir")["total"], (np.arange(16, dtype=np.float32), np.zeros(1, np.float32))
