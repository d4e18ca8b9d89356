#!/bin/sh
# The pre-stop hook: `leave.sh DIR`. The server says that it is not ready, and serves on until the load balancer has sent its requests
# elsewhere: that takes two failed checks (`fall 2`), and when the third comes the second has been acted upon. If no check comes
# any more it leaves after 20 s.
cd "$1" || exit
touch leaving
tries=0
until [ "$(grep -c 503 checks.log)" -ge 3 ] || [ $((tries += 1)) -gt 400 ]; do sleep 0.05; done
