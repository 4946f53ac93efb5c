#!/usr/bin/env bash
# Is there a Java that can run Spark? Prints ok for the Java that Spark would start, when it is 17 or newer.
set -u

java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
[ "${version:-0}" -ge 17 ] && echo ok
