# SPDX-License-Identifier: Apache-2.0
from traceinject.command_line import main

if __name__ == "__main__":
    main()
