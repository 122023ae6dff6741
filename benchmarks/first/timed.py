"""One process, timed by a small one: `python -S -I timed.py SECONDS IN OUT ERRORS COMMAND...` prints JSON.

What a process is said to have held at most includes what the process held that started it; so this one loads little.
The command reads and writes the files given; when it has not ended after so many seconds, it is killed.
"""

import json
import os
import select
import subprocess
import sys
import time


def main() -> int:
    most, given, out, errors, *command = sys.argv[1:]
    with open(given, "rb") as i, open(out, "wb") as o, open(errors, "wb") as e:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=i, stdout=o, stderr=e)
        handle = os.pidfd_open(process.pid)
        late = not select.select([handle], [], [], float(most))[0]
        if late:
            process.kill()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    found = {
        "seconds": seconds,
        "processor": used.ru_utime + used.ru_stime,
        "memory": used.ru_maxrss * 1024,
        "status": process.returncode,
        "late": late,
    }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
