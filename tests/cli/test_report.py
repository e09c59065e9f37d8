"""`tw report`: the morning report in Markdown, HTML and JSON."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs
from tokenworld.store.records import SourceText, Timing
from tokenworld.verbs.output import Output
from tokenworld.verbs.quality.report import report

PLAN = ("--time-limit", "20")


@pytest.fixture
def night(tw, world) -> None:
    """Three runs: one healthy that wins, one of refusals, one of nonsense that is halted."""
    good = ["add 1", *["go to attic", "go to hall"] * 11, "add 2", "go to attic"]
    for name, lines in (
        ("good", good),
        ("bad", ["go to hall"] * 12),
        ("odd", ["add 1", *["sing <b>loudly</b> | `now`"] * 6]),
    ):
        Path(f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
        halt = ("--halt-refusals", "5") if name == "odd" else ()
        tw("run", world, "--script", f"{name}.txt", *halt)


def test_the_markdown(tw, night) -> None:
    ran = tw("report", *PLAN)
    assert ran.code == 0
    text = ran.out
    assert text.startswith(
        "# Morning report\n\n3 runs: 1 FAILED, 1 INSUFFICIENT_DATA, 1 HEALTHY.\n"
    )
    assert (
        "| small-2 | script | 12 | FAILED | commands that work, refusals in a row, "
        "variety |" in text
    )
    assert "reached up in tick 24 (a plan takes 2 ticks, the run used 25)" in text
    assert "- **goal:** still in reach (a plan takes 2 ticks, the run used 0)" in text
    assert "- **refused most:** go: here (12)" in text
    assert "- **never fired:** action go, action add" in text
    assert "- **halted:** record 7, tick 1: 5 refusals in a row: records 2 to 6" in text
    assert "### [FAIL] Refusals in a row: 12 at most" in text
    assert text.count("- record 1, tick 0: `go to hall` → refused: You are in the hall.") == 2
    assert "- **not understood:** sing \\<b\\>loudly\\</b\\> \\| \\`now\\` (5)" in text


def test_halts_name_their_cause(tw, night) -> None:
    odd = tw("report", "--since", "small-3", "--json", "--time-limit", "0").json["runs"]
    (one,) = odd
    (halt,) = one["halts"]
    assert (halt["record"], halt["tick"], halt["came_to"]) == (
        7,
        1,
        "halted: 5 refusals in a row: records 2 to 6",
    )
    assert one["ended"] == "halted"
    assert one["plan_ticks"] is None


class Reader(HTMLParser):
    """Tags that are open, what they point to, and how they nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "br", "rect", "polyline"):
            self.open.append(tag)
        self.links += [value or "" for key, value in attrs if key in ("href", "src")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_stands_alone(tw, night) -> None:
    ran = tw("report", "-o", "out", *PLAN)
    assert (ran.code, ran.out) == (
        0,
        f"wrote {Path('out/report.md')} and {Path('out/report.html')}\n",
    )
    text = Path("out/report.html").read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    assert not reader.open
    assert {"svg", "table", "article", "polyline"} <= reader.seen
    assert not {"script", "img", "link", "iframe", "b"} & reader.seen
    assert reader.links == ["#small-1", "#small-2", "#small-3"]
    assert "http" not in text.replace("http-equiv", "")
    assert "sing <b>loudly</b> | `now`" in reader.text
    assert "reached up in tick 24" in reader.text
    again = Path("out/report.html").read_bytes()
    tw("report", "-o", "out", *PLAN)
    assert Path("out/report.html").read_bytes() == again
    assert Path("out/report.md").read_text(encoding="utf-8") == tw("report", *PLAN).out


def test_the_trend_over_earlier_reports(tw, world, night) -> None:
    assert tw("report", "--since", "small-2", "-o", "out", "--time-limit", "0").code == 0
    assert "Trend" not in Path("out/report.md").read_text(encoding="utf-8")
    found = tw("report", "-o", "out", "--time-limit", "0", "--json").json
    assert [one["last"] for one in found["trend"]] == ["small-3", "small-3"]
    text = Path("out/report.md").read_text(encoding="utf-8")
    assert "|  | to small-3 | to small-3 |\n" in text
    assert "| Refusals in a row | 0 of 2 | 1 of 3 |\n" in text
    assert "<td>Refusals in a row</td><td>0 of 2</td><td>1 of 3</td>" in Path(
        "out/report.html"
    ).read_text(encoding="utf-8")
    assert len(Path("out/history.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    Path("out/history.jsonl").write_text("x", encoding="utf-8")
    ran = tw("report", "-o", "out", "--time-limit", "0")
    assert (ran.code, "TW0006" in ran.err) == (2, True)


def test_a_run_that_cannot_be_scored_stops_no_other(tw, night) -> None:
    from dataclasses import replace

    with RunStore.open() as store:
        header = find_run(store).header
        store.begin(replace(header, sources=(SourceText("o.tw", "worldly"),)))
    ran = tw("report", "--time-limit", "0")
    assert ran.code == 0
    assert "1 UNREADABLE" in ran.out
    assert "**not scored:** TW0101" in ran.out


def told(store: Path, since: str, now: datetime, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    report(Output(), store=store, since=since, output=None, window=50, time_limit=0, now=now)
    return capsys.readouterr().out


def test_since(tw, night, tmp_path, capsys) -> None:
    now = datetime(2026, 3, 4, 8, 0, tzinfo=UTC)
    path = tmp_path / "old.sqlite"
    with RunStore.open() as store, RunStore.open(path) as other:
        for run, hours in zip(list_runs(store), (30, 11, 1), strict=True):
            began = (now - timedelta(hours=hours)).isoformat()
            other.begin(run.header, timing=Timing(began, 0))
        other.begin(find_run(store).header)  # nobody knows when
    for since, slugs in (
        ("12h", {"small-2", "small-3"}),
        ("2d", {"small-1", "small-2", "small-3"}),
        ("30m", set()),
        ("2026-03-04T00:00:00+00:00", {"small-3"}),
        ("small-3", {"small-3", "small-4"}),
    ):
        text = told(path, since, now, capsys)
        assert f"since {since}" in text
        assert {slug for slug in ("small-1", "small-2", "small-3", "small-4") if slug in text} - {
            since
        } == slugs - {since}
    assert "No run was recorded." in told(path, "30m", now, capsys)


def test_what_stands_in_the_way(tw, night) -> None:
    assert tw("report", "--store", "none.sqlite").code == 2
    ran = tw("report", "--since", "the day before")
    assert (ran.code, "TW1104" in ran.err) == (2, True)
    Path("file").write_text("", encoding="utf-8")
    ran = tw("report", "-o", "file/below", "--time-limit", "0")
    assert (ran.code, "TW1102" in ran.err) == (2, True)
