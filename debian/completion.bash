# bash completion of inference-spoa: commands and options as the program itself names them.
_inference_spoa()
{
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(inference-spoa help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p') help" -- "$current")
		return
	fi
	case $current in
	-*) mapfile -t COMPREPLY < <(compgen -W "$(inference-spoa "$command" --help 2>/dev/null | grep -o -E -- '--[a-z][a-z-]*' | sort -u)" -- "$current") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
	esac
}
complete -F _inference_spoa inference-spoa
