"""``python -m prefopt.cli``."""

from prefopt.cli import main

if __name__ == "__main__":
    main()
