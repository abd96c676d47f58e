"""The live page: explore a gap, watch a network fill it, open it, and look at what was measured.

`app.py` has every address, `guard.py` what is refused before anything is looked at, `static/` what the browser loads.
Training happens in worker processes (`live.py`, `worker.py`), and everything that lasts is in the store.
"""
