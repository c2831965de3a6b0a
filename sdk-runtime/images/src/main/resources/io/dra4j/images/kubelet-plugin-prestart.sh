#!/usr/bin/bash
# Copyright The dra4j Authors
# SPDX-License-Identifier: Apache-2.0
#
# Waits until NVIDIA's driver is usable below the driver root, and then ends with status 0: for an init container.
# NVIDIA_DRIVER_ROOT names the root on the node, / by default. Its parent is mounted at /driver-root-parent, so that a
# root that appears later is seen, too. There are no other programs in the image: bash does all.
set -u

parent=/driver-root-parent
root_of_node=${NVIDIA_DRIVER_ROOT:-/}
name=${root_of_node%"${root_of_node##*[!/]}"}
name=${name##*/}
root=$parent${name:+/$name}
interval=10

libraries=(usr/lib64 usr/lib/x86_64-linux-gnu usr/lib/aarch64-linux-gnu lib64 lib/x86_64-linux-gnu lib/aarch64-linux-gnu)
programs=(opt/bin usr/bin usr/sbin bin sbin)

trap 'exit 143' TERM
trap 'exit 130' INT
exec {never}<> <(:) # nothing is ever written there

# Prints the first file of a name in folders of the driver root.
find_file() {
    local file=$1 folder
    shift
    for folder; do
        if [[ -f $root/$folder/$file ]]; then
            echo "$root/$folder/$file"
            return
        fi
    done
    return 1
}

# Runs nvidia-smi with no environment but the library of the driver.
try_smi() (
    while read -r variable; do
        unset "$variable"
    done < <(compgen -e)
    export LD_PRELOAD=$library
    exec "$smi" --version
)

hint() {
    echo "  $*"
}

explain_missing() {
    echo "NVIDIA's driver is not there yet: the driver root is $root_of_node on the node, here $root."
    [[ -n $library ]] || hint "No libnvidia-ml.so.1 in ${libraries[*]}"
    [[ -n $smi ]] || hint "No nvidia-smi in ${programs[*]}"
    if [[ ! -d $parent ]]; then
        hint "$parent is not mounted: the init container needs the parent of the driver root there."
    elif [[ ! -d $root ]]; then
        hint "$root_of_node does not exist on the node."
    elif [[ -z $(compgen -G "$root/*") ]]; then
        hint "$root_of_node is empty."
    fi
    if [[ $root_of_node == / ]]; then
        hint "If NVIDIA's GPU Operator installs the driver, the driver root is /run/nvidia/driver, and not /: set nvidiaDriverRoot."
        hint "Otherwise install the driver on the node; nvidia-smi on the node tells whether it works."
    elif [[ $root_of_node == /run/nvidia/driver ]]; then
        hint "GPU Operator makes it when its driver pod is ready: look at the pods nvidia-driver-daemonset of this node."
        hint "If the driver was installed on the node itself, the driver root is /: set nvidiaDriverRoot."
    else
        hint "Check the value nvidiaDriverRoot: usually it is /, or /run/nvidia/driver with GPU Operator."
    fi
}

while true; do
    library=$(find_file libnvidia-ml.so.1 "${libraries[@]}")
    smi=$(find_file nvidia-smi "${programs[@]}")
    if [[ -z $library || -z $smi ]]; then
        explain_missing
    elif output=$(try_smi 2>&1); then
        echo "NVIDIA's driver is ready: $smi with $library"
        exit 0
    else
        status=$?
        echo "$smi --version with $library ended with status $status: $output"
        hint "The files of the driver are there, and do not work: is it being installed, does it fit this machine's architecture?"
        hint "nvidia-smi on the node, or in the driver's container, tells more."
    fi
    echo "Trying again in $interval s."
    read -rt "$interval" -u "$never"
done
