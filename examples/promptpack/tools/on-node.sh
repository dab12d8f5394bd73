#!/bin/sh
# Runs a script on the node that Holdpoint itself runs on, else on the one that is installed. A command gets no
# environment to find it by, and it lies elsewhere on every machine.
#
#   /bin/sh on-node.sh SCRIPT ARGUMENT…
node=$(readlink "/proc/$PPID/exe" 2>/dev/null)
case "$node" in
  */node) ;;
  *) node=node ;;
esac
exec "$node" "$@"
