"""Every code of the language reference is shown by a program or by a test, and has its page."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tokenworld.diagnostics import CODES
from tokenworld.verbs.explain import explain_code
from tokenworld.verbs.output import Output

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

PROGRAM, TEST, OPEN = "program", "test", "open"
COVERED: Final[dict[str, tuple[str, str]]] = {
    "TW0001": (PROGRAM, ""),
    "TW0002": (PROGRAM, ""),
    "TW0003": (PROGRAM, ""),
    "TW0004": (PROGRAM, ""),
    "TW0005": (TEST, "tests/cli/test_bad_input.py::test_an_empty_file_and_unknown_worlds"),
    "TW0006": (TEST, "tests/cli/test_bad_input.py::test_scripts_that_do_not_fit"),
    "TW0101": (PROGRAM, ""),
    "TW0102": (PROGRAM, ""),
    "TW0103": (PROGRAM, ""),
    "TW0104": (PROGRAM, ""),
    "TW0201": (PROGRAM, ""),
    "TW0202": (PROGRAM, ""),
    "TW0203": (PROGRAM, ""),
    "TW0204": (PROGRAM, ""),
    "TW0205": (PROGRAM, ""),
    "TW0206": (PROGRAM, ""),
    "TW0207": (PROGRAM, ""),
    "TW0301": (PROGRAM, ""),
    "TW0302": (PROGRAM, ""),
    "TW0303": (PROGRAM, ""),
    "TW0304": (PROGRAM, ""),
    "TW0305": (PROGRAM, ""),
    "TW0306": (PROGRAM, ""),
    "TW0307": (PROGRAM, ""),
    "TW0308": (PROGRAM, ""),
    "TW0309": (PROGRAM, ""),
    "TW0310": (PROGRAM, ""),
    "TW0311": (PROGRAM, ""),
    "TW0312": (PROGRAM, ""),
    "TW0401": (PROGRAM, ""),
    "TW0402": (PROGRAM, ""),
    "TW0403": (PROGRAM, ""),
    "TW0404": (PROGRAM, ""),
    "TW0405": (PROGRAM, ""),
    "TW0406": (PROGRAM, ""),
    "TW0407": (PROGRAM, ""),
    "TW0408": (PROGRAM, ""),
    "TW0409": (PROGRAM, ""),
    "TW0410": (PROGRAM, ""),
    "TW0411": (PROGRAM, ""),
    "TW0501": (PROGRAM, ""),
    "TW0502": (PROGRAM, ""),
    "TW0503": (PROGRAM, ""),
    "TW0504": (PROGRAM, ""),
    "TW0505": (PROGRAM, ""),
    "TW0506": (PROGRAM, ""),
    "TW0510": (PROGRAM, ""),
    "TW0511": (PROGRAM, ""),
    "TW0512": (PROGRAM, ""),
    "TW0513": (PROGRAM, ""),
    "TW0601": (PROGRAM, ""),
    "TW0602": (PROGRAM, ""),
    "TW0603": (PROGRAM, ""),
    "TW0604": (PROGRAM, ""),
    "TW0605": (PROGRAM, ""),
    "TW0606": (PROGRAM, ""),
    "TW0607": (PROGRAM, ""),
    "TW0608": (PROGRAM, ""),
    "TW0701": (PROGRAM, ""),
    "TW0702": (PROGRAM, ""),
    "TW0703": (TEST, "tests/tools/test_mutation.py::test_red_scenarios_judge_nothing"),
    "TW0801": (
        TEST,
        "tests/planning/test_pddl_ground.py::test_what_neither_form_can_hold_is_an_error_at_its_place",
    ),
    "TW0802": (
        TEST,
        "tests/planning/test_creation.py::test_running_into_the_bound_is_unknown_and_says_how_many",
    ),
    "TW0803": (TEST, "tests/cli/test_audit.py::test_a_goal_that_no_rule_leads_to_is_TW0803"),
    "TW0804": (TEST, "tests/planning/test_gaps.py::test_a_rule_that_is_not_followed_is_named"),
    "TW0805": (TEST, "tests/check/test_order.py::test_a_sequential_phase_is_never_encoded"),
    "TW0806": (
        TEST,
        "tests/test_error_pages.py::test_the_example_is_reported_and_the_repair_is_sound",
    ),
    "TW0807": (
        TEST,
        "tests/planning/test_pddl_text.py::test_outcomes_of_chance_are_numbered_actions",
    ),
    "TW0808": (TEST, "tests/cli/test_audit.py::test_a_plan_that_knows_a_secret_is_TW0808"),
    "TW0809": (
        TEST,
        "tests/planning/test_pddl_text.py::test_declared_requirements_stay_and_the_missing_ones_are_noted",
    ),
    "TW0810": (
        TEST,
        "tests/planning/test_unified.py::test_a_feature_it_lacks_is_told_with_a_next_step",
    ),
    "TW0811": (
        TEST,
        "tests/planning/test_unified.py::test_without_the_extra_the_install_command_is_told",
    ),
    "TW0812": (TEST, "tests/planning/test_downward.py::test_a_planner_that_is_killed_is_a_failure"),
    "TW0813": (TEST, "tests/planning/test_downward.py::test_a_time_limit_kills_the_whole_group"),
    "TW0814": (TEST, "tests/cli/test_explaining.py::test_a_reason_that_fails_costs_no_verdict"),
    "TW0901": (PROGRAM, ""),
    "TW0902": (PROGRAM, ""),
    "TW0903": (PROGRAM, ""),
    "TW0904": (PROGRAM, ""),
    "TW0905": (PROGRAM, ""),
    "TW0906": (PROGRAM, ""),
    "TW0907": (PROGRAM, ""),
    "TW0909": (PROGRAM, ""),
    "TW1001": (
        TEST,
        "tests/engine/test_statuses.py::test_rolled_back_by_an_invariant_names_it_and_keeps_what_was_discarded",
    ),
    "TW1002": (
        TEST,
        "tests/engine/test_statuses.py::test_rolled_back_by_conservation_tells_both_sums",
    ),
    "TW1003": (
        TEST,
        "tests/engine/test_statuses.py::test_two_laws_that_set_one_slot_are_both_named",
    ),
    "TW1004": (
        TEST,
        "tests/engine/test_statuses.py::test_rolled_back_by_a_law_that_leaves_a_range",
    ),
    "TW1005": (TEST, "tests/engine/test_refusals.py::test_a_cycle_by_a_law_is_rolled_back"),
    "TW1006": (TEST, "tests/engine/test_statuses.py::test_an_undefined_number_is_an_error"),
    "TW1007": (TEST, "tests/engine/test_beliefs.py::test_beliefs_that_leave_no_value_are_an_error"),
    "TW1008": (PROGRAM, ""),
    "TW1009": (TEST, "tests/cli/test_players.py::test_a_player_that_fails_halts_the_run"),
    "TW1010": (
        TEST,
        "tests/cli/test_operators.py::test_a_refused_rule_is_one_diagnostic_and_the_run_goes_on",
    ),
    "TW1101": (TEST, "tests/store/test_bad_store.py::test_a_folder"),
    "TW1102": (TEST, "tests/store/test_bad_store.py::test_a_place_where_no_file_can_be"),
    "TW1103": (TEST, "tests/store/test_bad_store.py::test_a_newer_schema"),
    "TW1104": (TEST, "tests/store/test_read.py::test_what_is_not_there_is_one_diagnostic"),
    "TW1105": (TEST, "tests/session/test_recording.py::test_a_replay_names_the_first_difference"),
    "TW1106": (TEST, "tests/store/test_export.py::test_a_torn_last_line_is_reported_and_skipped"),
    "TW1107": (TEST, "tests/session/test_reloading.py::test_a_round_under_way_waits"),
    "TW1201": (TEST, "tests/engine/test_outcomes.py::test_a_drawn_real_number_is_told"),
    "TW1202": (TEST, "tests/engine/test_outcomes.py::test_too_many_outcomes_that_agree_are_told"),
    "TW1203": (TEST, "tests/cli/test_learn.py::test_params_that_cannot_be_fitted_are_told"),
    "TW1204": (TEST, "tests/cli/test_learn.py::test_params_that_cannot_be_fitted_are_told"),
    "TW1205": (
        TEST,
        "tests/cli/test_learn.py::test_an_impossible_row_is_named_with_its_slot_and_rule",
    ),
    "TW1206": (TEST, "tests/cli/test_learn.py::test_a_param_without_information_keeps_its_value"),
    "TW1207": (TEST, "tests/cli/test_propose.py::test_a_rejected_rule_is_left_out_and_told"),
    "TW1208": (TEST, "tests/cli/test_propose.py::test_contradicting_rows_make_rules_of_chance"),
    "TW1209": (TEST, "tests/cli/test_propose.py::test_too_few_rows_are_told"),
    "TW1210": (TEST, "tests/cli/test_propose_given.py::test_a_contradicted_require_is_told"),
    "TW1211": (TEST, "tests/cli/test_propose_asked.py::test_a_journal_of_another_run_is_told"),
    "TW1301": (TEST, "tests/author/test_providers.py::test_a_program_that_does_not_answer"),
    "TW1302": (TEST, "tests/author/test_transcripts.py::test_a_changed_transcript_differs"),
}
"""Each code of the table in the reference, and how it is covered: by a program in this folder with
its snapshot, by the named test, or not, for the reason given."""


def test_the_list_is_that_of_the_program() -> None:
    assert sorted(COVERED) == list(CODES)


def with_program(code: str) -> list[Path]:
    return [path for path in sorted(HERE.glob(f"{code}_*.tw")) if path.with_suffix(".txt").exists()]


@pytest.mark.parametrize("code", [code for code, (how, _) in COVERED.items() if how == PROGRAM])
def test_a_program_shows_the_code(code: str) -> None:
    assert with_program(code)


@cache
def functions_of(path: str) -> dict[str, str]:
    """The tests of a file with their texts, decorators included."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return {
        node.name: "\n".join(
            ast.get_source_segment(text, part) or "" for part in (node, *node.decorator_list)
        )
        for node in ast.parse(text).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


@pytest.mark.parametrize("code", [code for code, (how, _) in COVERED.items() if how == TEST])
def test_the_named_test_is_there_and_names_the_code(code: str) -> None:
    path, _, name = COVERED[code][1].partition("::")
    body = functions_of(path)[name]
    # The examples on the pages are run for every code there is.
    assert code in body or path == "tests/test_error_pages.py"


def test_what_is_open_says_why() -> None:
    reasons = {code: why for code, (how, why) in COVERED.items() if how == OPEN}
    assert all(reasons.values())


@pytest.mark.parametrize("code", CODES)
def test_explain_prints_the_page_of_the_code(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_code(code, Output()) == 0
    assert capsys.readouterr().out.startswith(f"# {code}: {CODES[code][0]}\n")
