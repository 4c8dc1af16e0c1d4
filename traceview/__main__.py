"""python -m traceview"""

import sys

from traceview.cli import main

sys.exit(main())
