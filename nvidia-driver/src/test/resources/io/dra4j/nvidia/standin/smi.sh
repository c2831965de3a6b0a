record "$*"
echo "$LD_PRELOAD" > preload
case "$1 $3" in
    compute-policy*) echo "$5" > "new-$3" && mv "new-$3" "slice-$3" ;;
    *--query-gpu=compute_mode)
        cat "mode-$2" 2>/dev/null | grep -v DEFAULT | sed 's/EXCLUSIVE_P/Exclusive_P/' | grep . || echo Default ;;
    *--query-gpu=persistence_mode) cat "persistence-$2" 2>/dev/null || echo Disabled ;;
    *-pm) echo "$4" | sed 's/1/Enabled/; s/0/Disabled/' > "persistence-$2" ;;
    *) echo "$4" > "mode-$2" ;;
esac
after
