"""``tw plan WORLD --certificate FILE`` and ``--check FILE``: verdicts that others can check."""

from __future__ import annotations

import json
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.planning import Verdict
from tokenworld.planning.proof.certificate import Certificate, certificate_from_json
from tokenworld.session import OpenWorld, open_world
from tokenworld.session.certifying import CertificateReport, certify, check_certificate
from tokenworld.tools.files import write_file
from tokenworld.tools.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output

__all__ = ["check_file", "read_certificate", "write_certificate"]

_LARGEST = 64 << 20


def write_certificate(
    path: Path, world: OpenWorld, verdict: Verdict, seed: int, out: Output, *, seconds: float
) -> None:
    """Write the certificate of a verdict; none for *unknown*, which says so."""
    found = certify(world, verdict, seed, seconds=seconds, say=out.progress)
    if found is None:
        out.note(f"no certificate is written to {path}: there is nothing to certify")
        return
    text = json.dumps(found.to_json(), ensure_ascii=False, indent=1) + "\n"
    hint = "Name a file that can be written, with `--certificate`."
    write_file(path, text, hint, folder=path.parent)
    out.line(f"certificate: {path}")


def read_certificate(path: Path) -> Certificate:
    """The certificate in a file: TW0001 where it cannot be read, TW0006 where it is none."""
    try:
        if path.stat().st_size > _LARGEST:
            raise _not_json(path, "it is too large")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror or error}."
        hint = "Name a file that `tw plan WORLD --certificate FILE` wrote."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None
    except UnicodeDecodeError:
        raise _not_json(path, "it is not UTF-8 text") from None
    try:
        return certificate_from_json(json.loads(text), str(path))
    except (ValueError, RecursionError) as error:
        raise _not_json(path, f"it is not JSON ({str(error)[:100]})") from None


def _not_json(path: Path, reason: str) -> Failure:
    hint = "Write it anew with `tw plan WORLD --certificate FILE`."
    return Failure(Diagnostic("TW0006", f"`{path}` is no certificate: {reason}.", hint=hint))


def check_file(target: str, path: Path, out: Output, *, seconds: float) -> int:
    """Check a certificate against a world: 0 it holds, 1 it does not, 3 time ran out."""
    found = read_certificate(path)
    report = check_certificate(open_world(target), found, seconds=seconds, say=out.progress)
    _show(report, path, out)
    out.json(report.to_json())
    if report.difference:
        return EXIT_NEGATIVE
    return EXIT_UNKNOWN if report.unknown else EXIT_OK


def _show(report: CertificateReport, path: Path, out: Output) -> None:
    goal = report.certificate.goal
    asked = "any goal" if goal is None else f"goal `{goal}`"
    for line in report.verified:
        out.line(line)
    if report.difference:
        out.line(f"{path} does not hold: {report.difference}")
    elif report.unknown:
        out.line(f"unknown whether {path} holds: {report.unknown}")
        hint = "Raise `--time-limit`."
        out.diagnostics((Diagnostic("TW0813", "The check ran into its limit.", hint=hint),))
    else:
        out.line(f"{path} holds: {report.certificate.answer}, {asked}")
