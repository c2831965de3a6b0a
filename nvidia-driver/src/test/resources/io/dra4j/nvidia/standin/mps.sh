program='%s'
case "$1" in
    -f)
        hang() {
            echo $$ > hung && exec "$program" hang
        }
        echo "$LD_LIBRARY_PATH" > libraries
        touch starting
        [ ! -f user ] || export SERVER_USER="$(cat user)"
        record "mps $* $CUDA_VISIBLE_DEVICES"
        exec "$program" "$@" ;;
esac
read -r command
case "$command" in
    get_*)
        [ ! -f silent ] && echo "$command" | "$program" || exit 1
        if [ -f starting ]; then
            rm starting
            record "mps $command"
        fi ;;
    *)
        record "mps $command"
        echo "$command" | "$program" || exit 1 ;;
esac
after
