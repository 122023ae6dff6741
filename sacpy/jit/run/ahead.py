"""What is compiled when a program has ended: what it would have gained by most, for the next call or the next run.

In: the functions that were watched, and the loops that were left, of one program. Out: jobs for the process beside, one
for each kind of arguments of the functions whose interpreted calls took longest; of functions that call each other that
outside, which does all of it in one call. Functions that are outlined are looked at by their regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sacpy.interp.engine import owner
from sacpy.jit.fingerprint import callees
from sacpy.jit.run.records import seconds_of_rests

if TYPE_CHECKING:
    from sacpy.jit.run.dispatch import Site
    from sacpy.jit.run.versions import Versions


def make_ahead(sites: Sequence[Site], units: Iterable[Versions], least: float) -> None:
    """Has made what is worth it in a few runs. `least`: seconds that a function has taken at least."""
    known = {site.key: site for site in sites}
    slow = sorted((s for s in sites if _is_slow(s, least)), key=lambda s: s.seconds, reverse=True)
    left = seconds_of_rests(units)
    covered = {owner(key) for key in known if owner(key) != key}
    for site in slow:
        if site.key not in covered and site.key not in left:
            inside = _reached(site, known)
            native = sum(v.seconds for key in inside for v in known[key].versions.values())
            if site.look_ahead(native + sum(left.get(key, 0.0) for key in inside)):
                covered |= inside


def _is_slow(site: Site, least: float) -> bool:
    """Whether a function has taken so many seconds interpreted, for arguments that there may be a version for."""
    return site.seconds >= least and sum(site.slow().values()) >= least


def _reached(site: Site, known: Mapping[str, Site]) -> set[str]:
    """The function itself and those of `known` that it calls, by key."""
    found, waiting = {site.key}, [site]
    while waiting:
        new = known.keys() & callees(waiting.pop().function) - found
        found |= new
        waiting += [known[key] for key in new]
    return found
