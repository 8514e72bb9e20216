# Completion of `conelab` for bash: commands, topics of the manual, and the options of a command, as
# the program itself lists them.
_conelab() {
  local word=${COMP_WORDS[COMP_CWORD]} known=
  if [ "$COMP_CWORD" = 1 ]; then
    known=$(conelab --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p')
  elif [ "${COMP_WORDS[1]}" = help ]; then
    known=$(conelab help | sed -n 's/^  \([a-z-]*\)  .*/\1/p')
  elif [ "${word#-}" != "$word" ]; then
    known=$(conelab "${COMP_WORDS[1]}" --help 2>/dev/null | grep -o -e '--[a-z][a-z-]*')
  fi
  mapfile -t COMPREPLY < <(compgen -W "$known" -- "$word")
}
complete -o default -F _conelab conelab
