#!/bin/sh
# Runs the Workers runtime, HOLDFAST_WORKERD, and ignores the signals that a terminal sends to all
# of its processes. npm start handles Ctrl-C: it lets the runtime finish the requests in progress.
trap '' INT HUP
exec "$HOLDFAST_WORKERD" "$@"
