# SPDX-License-Identifier: Apache-2.0
# For complete.zsh, which sources it in a shell on a terminal: completion prints what it offers.
PROMPT= PS2=
fpath=($1 $fpath)
autoload -Uz compinit
compinit -u -D
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false

compadd() {
  # Asked to look only: -A, -O and -D name arrays to fill.
  if [[ " ${@[1,(i)(-|--)]} " == *' -'[AOD]' '* ]]; then
    builtin compadd "$@"
    return
  fi
  local -a offered
  builtin compadd -A offered "$@"
  print -rl -- $offered
  builtin compadd "$@"
}
mark() { print -r -- $'\001' }
compprefuncs=(mark)
comppostfuncs=(mark leave)
leave() { exit }
print ready
