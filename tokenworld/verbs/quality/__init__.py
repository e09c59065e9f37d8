"""The quality of a run: seven dimensions over its last ticks, and one verdict.

`scorecard.score_run` is the one producer; the command line, the screen and the morning report show
its scorecards. `scorecard.judge` is its pure half: facts in, scorecard out.
"""
