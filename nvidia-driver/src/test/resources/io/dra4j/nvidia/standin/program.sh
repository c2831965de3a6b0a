#!/bin/sh
PATH=/usr/bin:/bin
cd '%s' || exit 1
hang() {
    echo $$ > hung
    exec sleep 300
}
record() {
    echo "$1" >> calls
    number=$(wc -l < calls)
    if [ -f fail ] && echo "$1" | grep -q -e "$(cat fail)"; then
        echo "the stand-in fails"
        exit "$(cat code)"
    fi
    if [ -f hang ] && echo "$1" | grep -q -e "$(cat hang)"; then
        hang
    fi
    if [ -f "before-$number" ]; then
        touch killed
        kill -9 $PPID
        exit 1
    fi
}
after() {
    if [ -f "after-$number" ]; then
        touch killed
        kill -9 $PPID
    fi
}
