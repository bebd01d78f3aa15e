from collections.abc import Sequence

class Launcher:
    def __init__(
        self,
        parameters: tuple[tuple[bytes, int, int, int, set[object]], ...],
        record: int,
        driver: int,
        fuel: int,
        arena_size: int,
        seconds: int,
        worth: float,
        held: tuple[object, ...],
    ) -> None: ...
    def __call__(self, grid: object, values: Sequence[object]) -> bool: ...
