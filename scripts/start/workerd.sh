#!/bin/sh
# Runs the Workers runtime, HOLDFAST_WORKERD, deaf to what a terminal sends to all of its processes: Ctrl-C is npm start's to answer, which
# lets the runtime finish what is under way.
trap '' INT HUP
exec "$HOLDFAST_WORKERD" "$@"
