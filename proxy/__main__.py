"""``python -m proxy`` is ``throughline``."""

from proxy.cli.main import main

if __name__ == "__main__":
    main()
