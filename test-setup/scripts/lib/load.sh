# shellcheck shell=bash
# All of this folder. SCRIPTS is the folder above it.

# shellcheck source=lib/common.sh
source "$SCRIPTS/lib/common.sh"
# shellcheck source=lib/prerequisites.sh
source "$SCRIPTS/lib/prerequisites.sh"
# shellcheck source=lib/processes.sh
source "$SCRIPTS/lib/processes.sh"
# shellcheck source=lib/clusters.sh
source "$SCRIPTS/lib/clusters.sh"
# shellcheck source=lib/programs.sh
source "$SCRIPTS/lib/programs.sh"
# shellcheck source=lib/network.sh
source "$SCRIPTS/lib/network.sh"
# shellcheck source=lib/quantities.sh
source "$SCRIPTS/lib/quantities.sh"
