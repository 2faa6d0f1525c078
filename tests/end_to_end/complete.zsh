# SPDX-License-Identifier: Apache-2.0
# zsh -f complete.zsh FOLDER WORD...: what zsh offers for the last word, a line each. FOLDER holds the function that completes the
# program. Completion works only where a line is edited, so it is a shell on a terminal of its own that is asked.
zmodload zsh/zpty || exit 1
zpty shell zsh -f -i

# The shell prints what it would offer between two lines of a mark, and is gone.
zpty -w shell "source ${(q)0:A:h}/complete_setup.zsh ${(q)1}"
zpty -r -m shell out "*ready*" || exit 1
shift
zpty -w -n shell "${(j: :)@}"$'\t'
typeset text piece
while zpty -r shell piece; do text+=$piece; done
text=${text//$'\r'/}
print -rn -- "${${text#*$'\001\n'}%%$'\001'*}"
