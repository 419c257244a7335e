"""The command foretrace of the package: baseline, studies and the one-command calibration are here, everything else is the program's."""

import os
import signal
import sys

from foretrace import _program, baseline, calibration, optimise, sensitivity, sweep


OWN = {"baseline": baseline.main, "sweep": sweep.main, "sensitivity": sensitivity.main, "optimise": optimise.main}  # the program names them, too


def main() -> int:
    try:
        if sys.argv[1:2] == ["calibrate"] and calibration.is_asked(sys.argv[2:]):
            return calibration.main(sys.argv[2:])
        if len(sys.argv) > 1 and sys.argv[1] in OWN:
            return OWN[sys.argv[1]](sys.argv[2:])
    except KeyboardInterrupt:
        print("foretrace: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    try:
        path = _program.program()
    except _program.ForetraceError as error:
        print(f"foretrace: {error}", file=sys.stderr)
        return 2
    os.execve(path, ["foretrace", *sys.argv[1:]], _program.environment())


if __name__ == "__main__":
    sys.exit(main())
