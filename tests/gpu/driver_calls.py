"""Behaviour common to the drivers of all vendors, seen in the calls of a driver without a GPU."""

from __future__ import annotations


class SharedDriverCalls:
    """Tests for a class with a fixture `calls`: the output and the calls of a script with a `driver`."""

    def test_working_on_another_device(self, calls):
        show = "print(driver.device().ordinal)\n"
        out, _ = calls(f"with driver.on(1):\n  {show}{show}with driver.on(1):\n  {show}{show}")
        assert out == ["1", "0", "1", "0"]

    def test_memory(self, calls):
        script = """
address = driver.allocate(8)
driver.upload(address, b"abcdefgh", 5)
driver.clear(address + 2, 3, 5)
content = bytearray(8)
driver.download(address, content, 5)
print(bytes(content))
driver.upload(address, b"")
driver.upload(address, memoryview(b""))
driver.free(address)
"""
        out, said = calls(script)
        assert out == ["b'ab\\x00\\x00\\x00fgh'"]
        waits = ["wait on 0"] * 2  # for nothing that is uploaded
        assert said == ["allocate 8", "up 8 on 5", "wait on 5", "down 8 on 5", "wait on 5", *waits, "free"]

    def test_what_a_graph_records_is_not_waited_for(self, calls):
        script = "print(driver.is_capturing(3), driver.is_capturing(9))\ndriver.send(driver.allocate(4), b'abcd', 9)"
        assert calls(script) == (["False True"], ["allocate 4", "up 4 on 9"])

    def test_a_device_without_pools(self, calls):
        _, said = calls("driver.give_back(driver.borrow(100, 3), 3)", FAKE_NO_POOLS=1)
        assert said == ["allocate 100", "free"]

    def test_time(self, calls):
        assert calls("print(driver.seconds(lambda: None))")[0] == ["0.0015"]
