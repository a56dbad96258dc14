"""``python -m proxy`` is ``throughline``."""

from proxy.cli import main

if __name__ == "__main__":
    main()
