#!/bin/sh
# exec comes later
server "$@"
