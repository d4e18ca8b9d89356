#!/bin/sh
prepare
exec server "$@"
