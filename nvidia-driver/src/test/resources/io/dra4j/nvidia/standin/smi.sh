record "$*"
echo "$LD_PRELOAD" > preload
case "$1 $3" in
    compute-policy*)
        if [ "$4" = --list ]; then
            slice=$(cat "slice-$3" 2>/dev/null || echo 0)
            echo "|  GPU     Name                 Value  |"
            echo "|   0      timeslice          $(echo "$slice" | sed 's/0/Default/; s/1/Short/; s/2/Medium/; s/3/Long/')  |"
        else
            echo "$5" > "new-$3" && mv "new-$3" "slice-$3"
        fi ;;
    *--query-gpu=compute_mode)
        if [ -f answer ]; then
            cat answer
        else
            cat "mode-$2" 2>/dev/null | grep -v DEFAULT | sed 's/EXCLUSIVE_P/Exclusive_P/' | grep . || echo Default
        fi ;;
    *--query-gpu=persistence_mode) cat "persistence-$2" 2>/dev/null || echo Disabled ;;
    *-pm)
        for gpu in $(echo "$2" | tr , " "); do
            echo "$4" | sed "s/1/Enabled/; s/0/Disabled/" > "persistence-$gpu"
        done ;;
    *) echo "$4" > "mode-$2" ;;
esac
after
