# fish completion for functrace and functrace-postproc. The script asks the program for its options
# (--list-options, see src/cli/completion.h), so a new option needs no change here.

function __functrace_processes
    for line in (command $argv[1] --list-processes 2>/dev/null)
        set -l column (string split \t -- $line)
        printf '%s\t%s\n' $column[1] $column[3]
    end
end

# __functrace_values PROGRAM LIST VALUES...: prints the possible values of an option. LIST and VALUES are columns 2 and
# 3 of the option's line of --list-options.
function __functrace_values
    set -l program $argv[1]
    set -l list $argv[2]
    set -l value (commandline -ct | string replace -r '^--[^=]*=' '')
    set -l before ''
    if string match -q '*,' -- $list; and string match -q '*,*' -- $value
        set before (string replace -r '[^,]*$' '' -- $value)
        set value (string replace -r '.*,' '' -- $value)
    end
    for word in $argv[3..-1]
        switch $word
            case - FILE
            case @FILE
                string match -q '@*' -- $value; and printf '%s\n' @(__fish_complete_path (string sub -s 2 -- $value))
            case DIR
                __fish_complete_directories $value
            case PID
                __functrace_processes $program
            case SIGNAL
                kill -l | string split ' ' | string match -r '^[A-Z].*'
            case '*'
                printf '%s\n' $before$word
        end
    end
    # fish itself completes files only from the beginning of the word, not after a comma.
    test -n "$before"; and contains FILE $argv; and printf '%s\n' $before(__fish_complete_path $value)
end

# Succeeds if the line has no program yet. functrace's options end at the program.
function __functrace_is_before_program
    set -l words (commandline -opc)
    set -l is_value yes
    for word in $words
        if test -n "$is_value"
            set is_value
        else if contains -- (string replace -r '^-[^-]*(.)$' -- '-$1' $word) $__functrace_needing
            set is_value yes
        else if not string match -q -- '-?*' $word; or test $word = --
            return 1
        end
    end
end

function __functrace_options
    set -l program $argv[1]
    # A program that was called by a path is asked by the same path.
    set -l called (commandline -opc 2>/dev/null)[1]
    string match -q -- "*/$program" $called; and set called (string replace -r '^~' $HOME -- $called); or set called $program
    set -l only
    if test $program = functrace
        set -g __functrace_needing
        set only -n __functrace_is_before_program
    end
    for line in (command $called --list-options 2>/dev/null)
        set -l column (string split \t -- $line)
        set -l names
        for name in (string split ' ' -- $column[1])
            switch $name
                case '--*'
                    set -a names -l (string sub -s 3 -- $name)
                case '*'
                    set -a names -s (string sub -s 2 -- $name)
            end
        end
        set -l words (string split ' ' -- $column[3])
        set -l how
        switch $column[2]
            case 'required*'
                set how -r
                test $program = functrace; and set -a __functrace_needing (string split ' ' -- $column[1])
                contains FILE $words; or set -a how -f
            case '*'
                set how -f
        end
        test $column[2] = none; or set -a how -a "(__functrace_values $called $column[2..3])"
        complete -c $program $only $names $how -d $column[4]
    end
    test $program = functrace; and complete -c functrace -f -a "(__fish_complete_subcommand -- $__functrace_needing)"
end

__functrace_options functrace
__functrace_options functrace-postproc
