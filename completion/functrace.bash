# bash completion for functrace and functrace-postproc. The script asks the program for its options
# (--list-options, see src/cli/completion.h), so a new option needs no change here.

# Sets `words` to the words of the line up to the cursor, as the program would get them, and `cur` to the last word.
# COMP_WORDS is not used directly, because bash also splits it at the characters of COMP_WORDBREAKS ("--cpu=auto").
# index[i] is the index in COMP_WORDS at which words[i] begins.
_functrace_split()
{
	local rest=${COMP_LINE:0:COMP_POINT} trimmed i word

	words=() index=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		trimmed=${rest#"${rest%%[![:space:]]*}"}
		word=${COMP_WORDS[i]}
		[[ $i -lt $COMP_CWORD ]] || word=$trimmed
		if [[ ${#words[@]} -gt 0 && $trimmed == "$rest" ]]; then
			words[${#words[@]} - 1]+=$word
		else
			words+=("$word") index+=("$i")
		fi
		rest=${trimmed#"$word"}
	done
	cur=${words[${#words[@]} - 1]}
}

# _functrace_offer VALUE BEFORE WORDS...: offers the words that begin with VALUE, each with BEFORE in front. The words
# are not expanded.
_functrace_offer()
{
	local word

	for word in "${@:3}"; do
		[[ $word != "$1"* ]] || offered+=("$2$word")
	done
}

# _functrace_offer_files VALUE BEFORE KIND: offers what compgen finds. KIND is -f (files) or -d (folders).
_functrace_offer_files()
{
	local files

	mapfile -t files < <(compgen "$3" -- "$1")
	_functrace_offer '' "$2" "${files[@]}"
	compopt -o filenames
}

# _functrace_offer_processes VALUE BEFORE: offers the pids of processes. If bash only lists them, each has the name of
# the process after it. A VALUE that is not empty also completes the names of processes.
_functrace_offer_processes()
{
	local pid name command pids=() named=() names=()

	while IFS=$'\t' read -r pid name command; do
		names+=("$name")
		[[ $pid != "$1"* ]] || pids+=("$pid") named+=("$pid ($name)")
	done < <("$program" --list-processes 2>/dev/null)
	# 37 and 42: menu-complete and insert-completions insert the offered words into the line.
	if [[ ${#pids[@]} -gt 1 && $COMP_TYPE != 37 && $COMP_TYPE != 42 ]]; then
		pids=("${named[@]}")
	fi
	_functrace_offer '' "$2" "${pids[@]}"
	[[ -z $1 ]] || _functrace_offer "$1" "$2" "${names[@]}"
}

# _functrace_offer_values OPTION VALUE BEFORE: offers values of the option.
_functrace_offer_values()
{
	local value=$2 before=$3 word

	if [[ ${takes[$1]-} == *, && $value == *,* ]]; then
		before+=${value%,*},
		value=${value##*,}
	fi
	for word in ${values[$1]-}; do
		case $word in
		-) ;;
		FILE) _functrace_offer_files "$value" "$before" -f ;;
		@FILE) [[ $value != @* ]] || _functrace_offer_files "${value#@}" "$before@" -f ;;
		DIR) _functrace_offer_files "$value" "$before" -d ;;
		PID) _functrace_offer_processes "$value" "$before" ;;
		SIGNAL) _functrace_offer "$value" "$before" $(compgen -A signal | sed -n 's/^SIG\([A-Z]\)/\1/p') ;;
		*) _functrace_offer "$value" "$before" "$word" ;;
		esac
	done
}

# _functrace_offer_commands VALUE: offers commands and, if VALUE has a slash or no command matches, folders. bash itself
# does the same.
_functrace_offer_commands()
{
	local commands

	mapfile -t commands < <(compgen -c -- "$1")
	_functrace_offer '' '' "${commands[@]}"
	[[ ${#commands[@]} -gt 0 && $1 != */* ]] || _functrace_offer_files "$1" '' -d
}

# Reads the options of $program: their names into `all`, and by name their arguments into `takes` and their values into
# `values`.
_functrace_options()
{
	local names argument known help name

	while IFS=$'\t' read -r names argument known help; do
		for name in $names; do
			takes[$name]=$argument
			values[$name]=$known
			all+=("$name")
		done
	done < <("$program" --list-options 2>/dev/null)
}

# Examines the words before the last. Sets `pending` to the option whose value is the last word, if there is one, and
# `position` to the index of the word before which the options end; 0 if they have not ended.
_functrace_scan()
{
	local i letter option

	for ((i = 1; i < ${#words[@]} - 1 && !position; i++)); do
		option=${words[i]}
		if [[ -n $pending ]]; then
			pending=
		elif [[ $option == -- ]]; then
			position=$((i + 1))
		elif [[ $option == --* ]]; then
			[[ ${takes[$option]-} != required* ]] || pending=$option
		elif [[ $option == -?* ]]; then
			# Several letters may be in one word. The rest of the word after a letter that takes a value is
			# its value.
			for ((letter = 1; letter < ${#option}; letter++)); do
				pending=-${option:letter:1}
				[[ ${takes[$pending]-} == none ]] || break
			done
			[[ ${takes[$pending]-} == required* && $letter -eq $((${#option} - 1)) ]] || pending=
		elif [[ $is_tracer ]]; then
			position=$i
		fi
	done
}

_functrace()
{
	local program=$1 words index cur pending= position=0 all=() offered=() is_tracer= before
	local -A takes=() values=()

	COMPREPLY=()
	[[ $program != '~/'* ]] || program=$HOME/${program#'~/'}
	[[ ${program##*/} != functrace ]] || is_tracer=yes
	_functrace_split
	_functrace_options
	_functrace_scan

	if [[ -n $pending ]]; then
		_functrace_offer_values "$pending" "$cur" ''
	elif [[ $position -eq 0 && $cur == --*=* ]]; then
		_functrace_offer_values "${cur%%=*}" "${cur#*=}" "${cur%%=*}="
	elif [[ $position -eq 0 && $cur == -[!-]?* && ${takes[${cur:0:2}]:-none} != none ]]; then
		_functrace_offer_values "${cur:0:2}" "${cur:2}" "${cur:0:2}"
	elif [[ $position -eq 0 && $cur == -* ]]; then
		_functrace_offer "$cur" '' "${all[@]}"
		if [[ ${#offered[@]} -eq 1 && ${offered[0]} == --* && ${takes[${offered[0]}]} == required* ]]; then
			offered[0]+='='
			compopt -o nospace
		fi
	elif [[ -z $is_tracer ]]; then
		compopt -o default
	elif [[ $position -eq 0 || $position -eq $((${#words[@]} - 1)) ]]; then
		_functrace_offer_commands "$cur"
	elif declare -F _command_offset >/dev/null; then
		# A function of bash-completion: completes the command line of the traced program.
		_command_offset "${index[position]}"
		return
	else
		compopt -o default
	fi

	# readline replaces only the text after the last word break ($2), so the text before it is removed here.
	before=${cur%"$2"}
	COMPREPLY=("${offered[@]#"$before"}")
}

complete -F _functrace functrace functrace-postproc
