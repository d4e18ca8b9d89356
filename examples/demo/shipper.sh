#!/bin/sh
# A sidecar of the demo: ships the log of all others. Whoever ships logs must end last, or the last lines are lost:
# on TERM it counts what it has got, and that must include what the proxy wrote while it was ending.
tail -n +1 -f "$DEMO_LOG" > "$DEMO_SHIPPED" &
tail=$!
trap 'sleep 0.3; kill $tail 2>/dev/null; exit 0' TERM
wait $tail
