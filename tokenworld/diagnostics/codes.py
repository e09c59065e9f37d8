"""Every diagnostic code, its title and its usual severity: the one list, never reused.

Ranges: 00xx files, 01xx syntax, 02xx names, 03xx types and units, 04xx changes, 05xx laws and
phases, 06xx worlds, 07xx scenarios, 08xx planning and export, 09xx lints, 10xx run time,
11xx run store, 12xx outcomes and learning, 13xx authoring.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """The weight of a finding: only errors make a check fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


ERROR: Final = Severity.ERROR
WARNING: Final = Severity.WARNING
INFO: Final = Severity.INFO

CODES: Final[dict[str, tuple[str, Severity]]] = {
    "TW0001": ("file not found or unreadable", ERROR),
    "TW0002": ("unknown edition", ERROR),
    "TW0003": ("file is not UTF-8 text", ERROR),
    "TW0004": ("file without items", WARNING),
    "TW0005": ("no such world, or several", ERROR),
    "TW0006": ("start, replay or script file does not fit", ERROR),
    "TW0101": ("unexpected token", ERROR),
    "TW0102": ("item keyword inside an open brace", ERROR),
    "TW0103": ("bad character, quote or number", ERROR),
    "TW0104": ("template cannot be parsed", ERROR),
    "TW0201": ("unknown name", ERROR),
    "TW0202": ("unknown type", ERROR),
    "TW0203": ("declared twice", ERROR),
    "TW0204": ("attribute not on this type", ERROR),
    "TW0205": ("ambiguous name", ERROR),
    "TW0206": ("import or inheritance cycle", ERROR),
    "TW0207": ("derive not stratified", ERROR),
    "TW0301": ("wrong type", ERROR),
    "TW0302": ("wrong number of arguments", ERROR),
    "TW0303": ("units differ", ERROR),
    "TW0304": ("real in an exact place", ERROR),
    "TW0305": ("too many decimals", ERROR),
    "TW0306": ("table row missing or repeated", ERROR),
    "TW0307": ("value may be `none`", ERROR),
    "TW0308": ("constant outside its range", ERROR),
    "TW0309": ("ladder needed", ERROR),
    "TW0310": ("flag does not fit", ERROR),
    "TW0311": ("attribute inherited twice", ERROR),
    "TW0312": ("defaults differ", ERROR),
    "TW0401": ("target cannot be changed", ERROR),
    "TW0402": ("require after a change", ERROR),
    "TW0403": ("read after change in one body", ERROR),
    "TW0404": ("read of another round's change", ERROR),
    "TW0405": ("two values for one slot", ERROR),
    "TW0406": ("clamp or range misuse", ERROR),
    "TW0407": ("static changed", ERROR),
    "TW0408": ("destroy leaves a hole", ERROR),
    "TW0409": ("probabilities exceed 1", ERROR),
    "TW0410": ("scratch used outside a tick", ERROR),
    "TW0411": ("history asked where there is none", ERROR),
    "TW0501": ("two laws set one slot", ERROR),
    "TW0502": ("unknown or repeated phase", ERROR),
    "TW0503": ("law may leave a range", WARNING),
    "TW0504": ("`was` can never differ", WARNING),
    "TW0505": ("change inside a watch", ERROR),
    "TW0506": ("conserve or invariant provably broken", ERROR),
    "TW0510": ("`believe` outside a model", ERROR),
    "TW0511": ("fluent guessed twice or written later", ERROR),
    "TW0512": ("guessed and written in one phase", ERROR),
    "TW0513": ("guess over an infinite domain", ERROR),
    "TW0601": ("unknown world setting", ERROR),
    "TW0602": ("attribute without a value", ERROR),
    "TW0603": ("two phrases match the same words", ERROR),
    "TW0604": ("two equally specific `called`, `describe` or `birth`", ERROR),
    "TW0605": ("start state breaks an invariant", ERROR),
    "TW0606": ("layout character without legend", ERROR),
    "TW0607": ("goal holds in the start state", WARNING),
    "TW0608": ("nobody to act", ERROR),
    "TW0701": ("check without a step", ERROR),
    "TW0702": ("unknown label, event or status", ERROR),
    "TW0703": ("a test fails before anything is changed", ERROR),
    "TW0801": ("not expressible for this planner", ERROR),
    "TW0802": ("needs more spare objects", ERROR),
    "TW0803": ("goal unreachable even when relaxed", WARNING),
    "TW0804": ("a draw of a real number in the plan", ERROR),
    "TW0805": ("order-dependent phase", ERROR),
    "TW0806": ("order of arrival dropped", WARNING),
    "TW0807": ("stochastic outcome determinised", INFO),
    "TW0808": ("secret read by the plan", WARNING),
    "TW0809": ("requirement under-declared", INFO),
    "TW0810": ("PDDL feature not supported", ERROR),
    "TW0811": ("planner or extra missing", ERROR),
    "TW0812": ("planner or worker failed, was killed or answers nonsense", ERROR),
    "TW0813": ("time or memory limit reached", ERROR),
    "TW0814": ("explanation failed or took too long", WARNING),
    "TW0901": ("require without label or text", WARNING),
    "TW0902": ("refusal stored as state", WARNING),
    "TW0903": ("action without effect, or never applicable", WARNING),
    "TW0904": ("unused parameter, fluent or phase", WARNING),
    "TW0905": ("duplicated or shadowed action", WARNING),
    "TW0906": ("counter grows without bound", WARNING),
    "TW0907": ("equality of two values that may both be absent", WARNING),
    "TW0909": ("characters that cannot be seen", WARNING),
    "TW1001": ("invariant broken", ERROR),
    "TW1002": ("conserved amount changed", ERROR),
    "TW1003": ("write conflict", ERROR),
    "TW1004": ("range left", ERROR),
    "TW1005": ("containment or acyclic relation became a cycle", ERROR),
    "TW1006": ("number or probability undefined", ERROR),
    "TW1007": ("beliefs contradict", ERROR),
    "TW1008": ("draw inside a belief", ERROR),
    "TW1009": ("player, narrator or operator failed", ERROR),
    "TW1010": ("rule of an operator refused", WARNING),
    "TW1101": ("run store unreadable or corrupt", ERROR),
    "TW1102": ("run store cannot be written", ERROR),
    "TW1103": ("run store of a newer schema", ERROR),
    "TW1104": ("no such run or tick", ERROR),
    "TW1105": ("world differs from the recorded one", ERROR),
    "TW1106": ("imported line torn or malformed", ERROR),
    "TW1107": ("game cannot go on with the changed rules", ERROR),
    "TW1201": ("a draw of a real number among outcomes", ERROR),
    "TW1202": ("too many outcomes agree with what was observed", ERROR),
    "TW1203": ("nothing that can be learned", ERROR),
    "TW1204": ("learned number decides more than a probability", ERROR),
    "TW1205": ("recorded transition is impossible by the rules", ERROR),
    "TW1206": ("too little data for a param", WARNING),
    "TW1207": ("proposed rule that was left out", WARNING),
    "TW1208": ("different outcomes of one command in one state", WARNING),
    "TW1209": ("too few rows to learn from", ERROR),
    "TW1210": ("given rules refuse what was accepted", WARNING),
    "TW1211": ("journal of another run", ERROR),
    "TW1301": ("provider of a language model failed", ERROR),
    "TW1302": ("transcript unusable, or a replay that differs", ERROR),
}


def title_of(code: str) -> str:
    """The short title of a code; `KeyError` for a code that is not in the list."""
    return CODES[code][0]


def severity_of(code: str) -> Severity:
    """The usual severity of a code; `KeyError` for a code that is not in the list."""
    return CODES[code][1]
