"""A clock that jumps never cools everything at once."""

from __future__ import annotations

from pathlib import Path

from memory_vault import Vault

PLAIN, COLD = {"transcript.md"}, {"transcript.md.gz"}


def problems(vault: Vault) -> list[str]:
    return [p.problem for p in vault.memory.problems()]


def test_a_clock_that_jumps_ahead_stops_cooling_and_says_so(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    memory = vault.save("harbour lights")
    vault.clock.jump(days=40)
    result = vault.memory.cool()
    assert result.compressed == 0
    assert "the clock jumped ahead by 40 days" in str(result.problem)
    assert vault.stored(memory) == PLAIN
    assert any("cool --yes" in p for p in problems(vault))
    assert vault.memory.temperature_status().held
    vault.restart()
    assert vault.memory.cool().compressed == 0, "a restart does not make it right"
    assert vault.memory.cool(agree=True).compressed == 1
    assert problems(vault) == []
    assert vault.memory.temperature_status().held is None
    vault.close()


def test_a_clock_that_is_set_right_again_lets_cooling_go_on(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    memory = vault.save("harbour lights")
    vault.memory.cool()
    vault.clock.jump(days=400)
    assert vault.memory.cool().problem
    vault.clock.jump(days=-400)
    vault.clock.pass_time(hours=1)
    assert vault.memory.cool().problem is None
    assert vault.stored(memory) == PLAIN
    vault.clock.pass_time(days=8)
    assert vault.memory.cool().compressed == 1
    vault.close()


def test_a_machine_that_slept_is_no_jump(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.save("harbour lights")
    vault.clock.pass_time(days=40)
    assert vault.memory.cool().compressed == 1
    vault.close()


def test_a_clock_that_went_back_stops_cooling(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    old = vault.save("harbour lights")
    vault.clock.pass_time(days=8)
    vault.memory.cool()
    new = vault.save("a new one")
    vault.clock.pass_time(days=30)
    vault.clock.jump(days=-15)
    result = vault.memory.cool()
    assert "went back by 15 days" in str(result.problem)
    assert (vault.stored(old), vault.stored(new)) == (COLD, PLAIN)
    vault.close()


def test_a_clock_behind_the_last_cycle_stops_cooling_after_a_restart(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.clock.pass_time(days=100)
    vault.memory.cool()
    vault.close()
    vault.clock.jump(days=-50)
    vault.open()
    vault.save("harbour lights")
    vault.clock.pass_time(days=10)
    assert "50 days behind the last cycle" in str(vault.memory.cool().problem)
    vault.close()


def test_half_of_everything_after_a_long_absence_waits_for_a_yes(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    for number in range(60):
        vault.save(f"harbour lights {number}")
    vault.memory.cool()
    vault.close()
    vault.clock.pass_time(days=50)
    vault.open()
    result = vault.memory.cool()
    assert "60 of 60 transcripts would be compressed at once" in str(result.problem)
    assert vault.memory.cool(agree=True).compressed == 60
    vault.close()


def test_after_a_holiday_cooling_simply_goes_on(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.save("harbour lights")
    vault.memory.cool()
    vault.close()
    vault.clock.pass_time(days=21)
    vault.open()
    assert vault.memory.cool().compressed == 1
    vault.close()


def test_warming_is_never_stopped(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    memory = vault.save("harbour lights")
    vault.clock.pass_time(days=8)
    vault.memory.cool()
    vault.clock.jump(days=100)
    vault.memory.cool()
    vault.open_memory(memory)
    assert vault.stored(memory) == PLAIN
    vault.close()
