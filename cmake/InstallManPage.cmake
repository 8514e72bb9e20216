# Writes the man page of the program from its own help, when it is installed:
#   cmake -DPROGRAM=conelab -DPAGE=conelab.1 -P InstallManPage.cmake
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\\" "\\\\" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REPLACE "\n." "\n\\&." help "${help}")
file(WRITE ${PAGE} ".TH CONELAB 1\n.SH NAME\nconelab \\- attention that knows hierarchy\n"
  ".SH SYNOPSIS\n.B conelab\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n.nf\n${help}.fi\n"
  ".SH SEE ALSO\n.B conelab help\nlists the topics of the manual and prints them.\n")
