#!/usr/bin/bash
# Copyright The dra4j Authors
# SPDX-License-Identifier: Apache-2.0
#
# NVIDIA's chart starts it as its init container, to wait for NVIDIA's driver. That could wait forever: the driver may
# wait for pods to end, which end only when the kubelet plugin is registered.
echo "Nothing to wait for: the driver itself waits for NVIDIA's driver. Until that works, it unprepares claims, publishes no devices, and is not ready; Events of the node say why."
