#!/bin/sh
# Runs the compiler and keeps what ptxas says of each kernel (registers, spills, advice) beside the
# object, as OBJECT.ptxas, for the tests to read: keep_ptxas.sh COMPILER ... -o OBJECT ...
object=
before=
for word in "$@"; do
  [ "$before" = -o ] && object=$word
  before=$word
done
"$@" 2>"$object.messages"
status=$?
own='ptxas info|bytes stack frame'
grep -E "$own" "$object.messages" >"$object.ptxas"
grep -vE "$own" "$object.messages" >&2
rm -f "$object.messages"
exit $status
