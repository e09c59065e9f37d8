"""OneLife's protocol on Crafter (Khan et al. 2025), from the paper and its code's behaviour.

Linear algebra runs on one thread: its arrays are so small that threads only wait for each other.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
