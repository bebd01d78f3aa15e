"""Grids that are larger than one machine: `launch` runs bands of tile blocks on workers, each with the boxes of the
arrays that it touches."""

from tileir.distributed.launching import launch as launch
